/// A store that sells purchases: the App Store, Google Play, or another one, whose origins begin with its name.
///
/// Rules and surfaces ask for a property that is named after the rule, and never which store it is. Another store has the rules of a store
/// whose statements say all that there is: nothing is assumed for it that only one company's pages promise.
package struct PurchaseStore: RawRepresentable, Hashable, Sendable, CaseIterable {
    package static let appStore = PurchaseStore(code: 0)
    package static let playStore = PurchaseStore(code: 1)

    /// The stores that Till knows. A person can name no other.
    package static let allCases = [appStore, playStore]

    /// 0, 1, or the packed name of another store.
    private let code: UInt64

    private init(code: UInt64) {
        self.code = code
    }

    init(_ name: StoreName) {
        self.init(code: name.code)
    }

    /// The store of a word in exports and figures; nil for a word without the form of one.
    package init?(rawValue: String) {
        if let known = Self.allCases.first(where: { $0.rawValue.hasSameBytes(as: rawValue) }) {
            self = known
        } else {
            guard let name = StoreName(rawValue[...]), !name.isTaken else { return nil }
            self.init(name)
        }
    }

    /// The word in exports and figures.
    package var rawValue: String { words?.word ?? StoreName(code: code).text }

    package static func == (left: PurchaseStore, right: PurchaseStore) -> Bool { left.code == right.code }

    // Without it, `!=` is that of `RawRepresentable`, which makes two texts.
    package static func != (left: PurchaseStore, right: PurchaseStore) -> Bool { left.code != right.code }

    package func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

/// The words of a store.
extension PurchaseStore {
    /// The words of a store that Till knows; nil for another one.
    private var words:
        (word: String, name: String, company: String, refundAddress: String, subscriptionAddress: String)?
    {
        switch self {
        case .appStore:
            (
                "app_store", "App Store", "Apple", "https://reportaproblem.apple.com",
                "https://apps.apple.com/account/subscriptions"
            )
        case .playStore:
            (
                "play_store", "Google Play", "Google", "https://play.google.com/store/account/orderhistory",
                "https://play.google.com/store/account/subscriptions"
            )
        default: nil
        }
    }

    /// The name for people.
    package var name: String { words?.name ?? rawValue }

    /// - Returns: Nil for a text that is no name of a store.
    package init?(name: String) {
        guard let store = Self.allCases.first(where: { $0.name.hasSameBytes(as: name) }) ?? Self(rawValue: name),
            store.name.hasSameBytes(as: name)
        else { return nil }
        self = store
    }

    package var nameInSentence: String { self == .appStore ? "the App Store" : name }

    /// The company that sells there, and that returns the money.
    package var company: String { words?.company ?? name }

    /// The address at which customers ask for their money; nil if Till knows none.
    package var refundAddress: String? { words?.refundAddress }

    /// The place where the team refunds orders; nil if only the company does.
    package var orderConsole: String? { self == .playStore ? "the Play Console" : nil }

    /// The page on which customers manage their subscriptions; nil if Till knows none.
    package var subscriptionAddress: String? { words?.subscriptionAddress }
}

/// The rules of a store, each with the page that it follows.
extension PurchaseStore {
    /// True if the identifier of a purchase is that of its first transaction, and each further transaction continues it.
    ///
    /// At Google Play it is the name of a purchase token, which no period has, and a token can have several first periods.
    package var namesPurchaseByFirstTransaction: Bool { self != .playStore }

    /// The seconds for which a subscription that may renew, and whose end no statement has told, is not reported as ended. The user does
    /// not own the item meanwhile.
    ///
    /// The service asks Google Play about each end until it states one: "The purchase token is valid from subscription signup until 60 days
    /// after expiration" (developer.android.com/google/play/billing/lifecycle/subscriptions).
    package var silentEndSeconds: Int64 { self == .playStore ? 60 * 86_400 : 3600 }

    /// True if the end of a grace period waits for a statement, too. Google Play puts the subscription on hold, or ends it, and is asked
    /// which (lifecycle/subscriptions, "Account hold").
    package var statesEndOfGracePeriod: Bool { self == .playStore }

    /// True if a statement about the renewal is signed by itself, and may be older or newer than the transaction beside it (App Store
    /// Server API, `signedRenewalInfo`).
    package var statesRenewalByItself: Bool { self == .appStore }

    /// True if the statement of an end is also about a period that was charged early, and has not begun (lifecycle/subscriptions,
    /// "Revocations"). Elsewhere, a period that begins later is another purchase of the customer.
    package var endsPeriodsToCome: Bool { self == .playStore }

    /// True if the store stops retrying a charge at the limit after the paid period, whatever it states later.
    ///
    /// A hold at Google Play may follow a pause, and then ends after the limit (lifecycle/subscriptions, "Account hold").
    package var retriesWithinLimit: Bool { self == .appStore }

    /// True if a later end of a period is an extension (App Store Server Notifications, `RENEWAL_EXTENDED`). Google Play moves the end of a
    /// period for other reasons, too, such as a late charge.
    package var statesExtensions: Bool { self == .appStore }

    /// True if the store can be asked for the period that has replaced an upgraded one (App Store Server API, Get All Subscription
    /// Statuses). Google Play answers about one token at a time.
    package var answersAboutUpgrades: Bool { self == .appStore }

    /// True if the store states who has turned renewal off. At the App Store, only the customer does (App Store Server API,
    /// `autoRenewStatus`).
    package var statesCanceler: Bool { self != .appStore }

    /// True if a proof is the receipt of one purchase. A receipt of the App Store has all of the customer.
    package var hasReceiptOfEachPurchase: Bool { self != .appStore }

    /// True if the store states the code that a customer has redeemed. At the App Store, the offer stands for it (revenuecat.com/docs,
    /// "Event Types and Fields", `offer_code`).
    package var statesPromotionCode: Bool { self == .playStore }

    /// True if a customer in a grace period can change the plan, so that the new period begins before the grace period ends.
    package var replacesInGracePeriod: Bool { self != .appStore }

    /// True if a statement about the renewal is about the whole purchase, whichever period it comes with.
    ///
    /// An answer of Google Play about a token that another one has followed does not speak for the chain.
    package var statesRenewalOfPurchase: Bool { self != .playStore }
}

/// The name of a store before the environment of its origins, as one number: up to six small letters.
///
/// An origin has 32 bits, because four rows and two indexes of each purchase have it.
struct StoreName {
    private static let maximumLength = 6
    private static let characters = Array("abcdefghijklmnopqrstuvwxyz".utf8)
    /// The number of characters, and of the end of a shorter name.
    private static let base = UInt64(characters.count + 1)
    /// The texts of this form that name no other store: the first halves of the known origins, and the actors of the audit log beside
    /// the stores, which it has under their names.
    private static let taken = ["apple", "xcode", "local", "google", "till", "user"]
    /// The bits that tell a packed name from the code of a known value. They make a negative number of 32 bits.
    private static let packed: UInt64 = .max << 31
    /// The bits of an origin's environment, which a name leaves free.
    static let environmentMask: UInt64 = 3

    let code: UInt64
    var isTaken: Bool { Self.taken.contains { $0.hasSameBytes(as: text) } }

    static func isPacked(_ code: UInt64) -> Bool { code & packed == packed }

    /// - Parameter code: The code of an origin or a store that is no known one.
    init(code: UInt64) {
        self.code = code & ~Self.environmentMask
    }

    /// - Returns: Nil for a code that no text has.
    init?(checking code: UInt64) {
        var rest = (code & ~Self.packed) >> 2
        while rest != 0 {
            guard rest % Self.base != 0 else { return nil }
            rest /= Self.base
        }
        guard Self.isPacked(code), let name = StoreName(Substring(StoreName(code: code).text)),
            name.code == code & ~Self.environmentMask
        else { return nil }
        self = name
    }

    /// - Returns: Nil for an empty or a long text, and for one with another character.
    init?(_ text: Substring) {
        guard (1...Self.maximumLength).contains(text.utf8.count) else { return nil }
        var code: UInt64 = 0
        for character in text.utf8 {
            guard let number = Self.characters.firstIndex(of: character) else { return nil }
            code = code * Self.base + UInt64(number + 1)
        }
        self.code = Self.packed | code << 2
    }

    var text: String {
        var bytes: [UInt8] = []
        var rest = (code & ~Self.packed) >> 2
        while rest != 0 {
            bytes.append(Self.characters[Int(rest % Self.base) - 1])
            rest /= Self.base
        }
        return String(decoding: bytes.reversed(), as: UTF8.self)
    }
}
