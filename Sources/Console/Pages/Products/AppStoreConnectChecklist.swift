import Proofs

/// The entries of a product in App Store Connect that must agree with the catalog.
///
/// The limits are those of App Store Connect Help, "In-app purchase information" and "Auto-renewable subscription information".
struct AppStoreConnectChecklist: Sendable {
    /// The result of the comparison of an entry with the limits of App Store Connect.
    enum Check: Hashable, Sendable {
        case ready
        case missing
        case tooShort(minimum: Int)
        case tooLong(maximum: Int)
        case notAccepted
        /// Till does not know the entry.
        case byHand
    }

    struct Entry: Sendable {
        let title: Phrase
        let value: HTML
        let check: Check
    }

    private static let maximumIdentifierLength = 100
    private static let maximumReferenceNameLength = 64
    private static let displayNameLengths = 2...35
    private static let maximumDescriptionLength = 55
    private static let durations: Set<String> = ["P1W", "P7D", "P1M", "P2M", "P3M", "P6M", "P1Y", "P12M"]

    let product: Product
    let storefront: Storefront

    /// The entries in the order of App Store Connect.
    @ListBuilder<Entry> var entries: [Entry] {
        entry("Type", .ready) { product.type.title }
        entry("Product ID", identifierCheck) { Shown.identifier(product.productIdentifier) }
        entry("Reference name", Self.check(product.referenceName, 1...Self.maximumReferenceNameLength)) {
            data(product.referenceName)
        }
        if let subscription = product.subscription {
            entry("Subscription group", Self.check(subscription.groupName, 1...Self.maximumReferenceNameLength)) {
                data(subscription.groupName)
            }
            entry("Level in the group", subscription.level > 0 ? .ready : .notAccepted) {
                plain(String(subscription.level))
            }
            entry(
                "Subscription duration",
                Self.durations.contains(subscription.period.description) ? .ready : .notAccepted
            ) { subscription.period.words() }
        }
        entry("Price in the storefront \(storefront.countryCode)", .ready) { Shown.money(product.price) }
        if product.localizations.isEmpty { entry("Localization", .missing) { Shown.nothing } }
        for localization in product.localizations {
            let language = localization.locale.replacing("_", with: "-")
            entry("Display name (\(language))", Self.check(localization.displayName, Self.displayNameLengths)) {
                data(localization.displayName)
            }
            entry(
                "Description (\(language))", Self.check(localization.description, 1...Self.maximumDescriptionLength)
            ) { data(localization.description) }
        }
        for offer in product.subscription?.offers ?? [] {
            entry(offer.kind.title, .ready) {
                if let identifier = offer.identifier {
                    Shown.identifier(identifier)
                    plain(" · ")
                }
                ProductWords.terms(of: offer)
            }
        }
        entry("Family Sharing", canBeShared || !product.isFamilyShareable ? .ready : .notAccepted) {
            product.isFamilyShareable ? "on" : "off"
        }
        entry("Review screenshot", .byHand) { "a screenshot of the purchase in the app" }
        entry("Availability and tax category", .byHand) { "the countries that sell the app" }
    }

    private var identifierCheck: Check {
        guard product.productIdentifier.wholeMatch(of: /[A-Za-z0-9._-]+/) != nil else { return .notAccepted }
        return Self.check(product.productIdentifier, 1...Self.maximumIdentifierLength)
    }

    private var canBeShared: Bool { [.nonConsumable, .autoRenewableSubscription].contains(product.type) }

    private func entry(_ title: Phrase, _ check: Check, @HTMLBuilder value: () -> HTML) -> Entry {
        Entry(title: title, value: value(), check: check)
    }

    private static func check(_ text: String, _ lengths: ClosedRange<Int>) -> Check {
        if text.isEmpty { return .missing }
        // The service limits the bytes of a text.
        let count = text.count
        if count < lengths.lowerBound { return .tooShort(minimum: lengths.lowerBound) }
        return count > lengths.upperBound ? .tooLong(maximum: lengths.upperBound) : .ready
    }

    /// The checklist as a table.
    var table: HTML {
        Listing.table("Entries in App Store Connect", of: entries, empty: "None.") {
            column("In App Store Connect") { $0.title }
            column("Value") { $0.value }
            column(Phrase("Check", context: "by hand")) { Self.badge(of: $0.check) }
        }
    }

    private static func badge(of check: Check) -> HTML {
        switch check {
        case .ready: Shown.badge("Enter this value", .good)
        case .missing: Shown.badge("Missing in the catalog", .bad)
        case .tooShort(let minimum): Shown.badge("Shorter than \(minimum)", .bad)
        case .tooLong(let maximum): Shown.badge("Longer than \(maximum)", .warning)
        case .notAccepted: Shown.badge("Not accepted by Apple", .bad)
        case .byHand: Shown.badge("Check by hand")
        }
    }
}
