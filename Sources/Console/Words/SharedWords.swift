import Entitlements
import Ledger
import Proofs
import Vocabulary

/// The person, the program or the API key that has changed something.
enum ActorWords {
    /// - Parameters:
    ///   - caller: The identifier of an API key, or `member NAME` for a person.
    ///   - keys: The names of API keys by their identifiers.
    static func html(caller: String, _ keys: [String: String]) -> HTML { html(AuditActor(caller: caller), keys) }

    @HTMLBuilder static func html(_ actor: AuditActor, _ keys: [String: String]) -> HTML {
        switch actor {
        case .user: "the app"
        case .store(let store): store.phraseInSentence
        case .till: "Till"
        case .member(let name): data(name)
        case .apiKey(let identifier):
            "API key"; plain(" ")
            data(keys[identifier] ?? identifier)
        }
    }
}

extension AuditEntry.Event {
    /// The event, without its object.
    var title: Phrase { Phrase(english: rule.title, korean: rule.korean) }
}

extension Phrase {
    init(_ title: ChangeTitle) { self.init(english: title.english, korean: title.korean) }
}

extension NotificationOutcome {
    var title: Phrase { word.title }

    private var word: Shown.Word {
        switch self {
        case .granted: ("Given to the customer", .good)
        case .revoked: ("Taken from the customer", .bad)
        case .recorded: ("Recorded, nothing changed", .neutral)
        case .parked: ("Waits for a customer", .warning)
        case .duplicate: ("Received before", .neutral)
        }
    }

    var badge: HTML { Shown.badge(word) }
}

enum OriginWords {
    @HTMLBuilder static func html(_ origin: Origin) -> HTML {
        spaced(Shown.origin(origin), mark(origin))
    }

    /// Badges for the store, and for an origin whose purchases cost nothing.
    ///
    /// - Parameter isAmongBoth: True beside purchases of another store. Otherwise the App Store has no badge.
    /// - Returns: Nil without a badge.
    static func mark(_ origin: Origin?, isAmongBoth: Bool = false) -> HTML? {
        guard let origin else { return nil }
        let store = isAmongBoth || origin.store != .appStore ? Shown.badge(origin.store.title) : nil
        let kind: Phrase? =
            switch origin {
            case .appleProduction, .googleProduction: nil
            case .appleSandbox: "Sandbox"
            case .xcode: "Xcode"
            case .googleTest: "License tester"
            case .localProduction, .localPlayProduction: "Local store"
            case .localSandbox, .localPlayTest: "Local sandbox"
            default: origin.isSandbox ? "Sandbox" : nil
            }
        let badges = [store, kind.map { Shown.badge($0, .warning) }].compactMap(\.self)
        return badges.isEmpty ? nil : spaced(badges)
    }
}

extension PurchaseStore {
    var title: Phrase {
        switch self {
        case .appStore: "App Store"
        case .playStore: "Google Play"
        default: Phrase(same: name)
        }
    }

    var phraseInSentence: Phrase { self == .appStore ? "the App Store" : title }
}

extension ProductType {
    /// The name of the type, as in App Store Connect.
    package var title: Phrase { Phrase(stated: rawValue.prefix(1) + rawValue.dropFirst().lowercased()) }
}

extension ConsumptionRequestReason {
    /// The reason of a customer for a refund request.
    var title: Phrase {
        switch self {
        case .unintendedPurchase: "Bought by mistake"
        case .fulfillmentIssue: "Did not get what was bought"
        case .unsatisfiedWithPurchase: "Not satisfied"
        case .legal: "A legal reason"
        case .other: "Another reason"
        }
    }
}

extension SubscriptionOffer.Kind {
    var title: Phrase {
        switch self {
        case .introductory: "Introductory offer"
        case .promotional: "Promotional offer"
        case .offerCode: "Offer code"
        case .winBack: "Win-back offer"
        }
    }
}

extension SubscriptionPeriod {
    /// The length of a number of periods, such as "3 months".
    func words(times count: Int = 1) -> Phrase {
        let number = value * count
        let plural = number == 1 ? "" : "s"
        return switch unit {
        case .day: "\(number) day\(plural)"
        case .week: "\(number) week\(plural)"
        case .month: "\(number) month\(plural)"
        case .year: "\(number) year\(plural)"
        }
    }
}
