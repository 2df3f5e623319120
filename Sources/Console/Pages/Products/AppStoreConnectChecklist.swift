import Catalog
import Proofs

/// The entries of a product in App Store Connect that must agree with the catalog.
///
/// The limits are those of App Store Connect Help, "In-app purchase information" and "Auto-renewable subscription information".
struct AppStoreConnectChecklist: Sendable {
    struct Entry: Sendable {
        let title: Phrase
        let value: HTML
        /// The result of the comparison with the limits of App Store Connect.
        let check: Shown.Word
    }

    private static let ready: Shown.Word = ("Enter this value", .good)
    private static let missing: Shown.Word = ("Missing in the catalog", .bad)
    private static let notAccepted: Shown.Word = ("Not accepted by Apple", .bad)
    /// Till does not know the entry.
    private static let byHand: Shown.Word = ("Check by hand", .neutral)

    private static let maximumIdentifierLength = 100
    private static let maximumReferenceNameLength = 64
    private static let displayNameLengths = 2...35
    private static let maximumDescriptionLength = 55
    private static let durations: Set<String> = ["P1W", "P7D", "P1M", "P2M", "P3M", "P6M", "P1Y", "P12M"]

    let product: Product
    let storefront: Storefront

    @ListBuilder<Entry> var entries: [Entry] {
        entry("Type", Self.ready) { product.type.title }
        entry("Product ID", identifierCheck) { Shown.identifier(product.productIdentifier) }
        entry("Reference name", Self.check(product.referenceName, 1...Self.maximumReferenceNameLength)) {
            data(product.referenceName)
        }
        if let subscription = product.subscription {
            entry("Subscription group", Self.check(subscription.groupName, 1...Self.maximumReferenceNameLength)) {
                data(subscription.groupName)
            }
            entry("Level in the group", subscription.level > 0 ? Self.ready : Self.notAccepted) {
                plain(String(subscription.level))
            }
            entry(
                "Subscription duration",
                Self.durations.contains(subscription.period.description) ? Self.ready : Self.notAccepted
            ) { subscription.period.words() }
        }
        entry("Price in the storefront \(storefront.countryCode)", Self.ready) { Shown.money(product.price) }
        if product.localizations.isEmpty { entry("Localization", Self.missing) { Shown.nothing } }
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
            entry(offer.kind.title, Self.ready) {
                if let identifier = offer.identifier {
                    Shown.identifier(identifier)
                    plain(" · ")
                }
                ProductWords.terms(of: offer)
            }
        }
        entry("Family Sharing", canBeShared || !product.isFamilyShareable ? Self.ready : Self.notAccepted) {
            product.isFamilyShareable ? "on" : "off"
        }
        entry("Review screenshot", Self.byHand) { "a screenshot of the purchase in the app" }
        entry("Availability and tax category", Self.byHand) { "the countries that sell the app" }
    }

    private var identifierCheck: Shown.Word {
        guard product.productIdentifier.wholeMatch(of: /[A-Za-z0-9._-]+/) != nil else { return Self.notAccepted }
        return Self.check(product.productIdentifier, 1...Self.maximumIdentifierLength)
    }

    private var canBeShared: Bool { [.nonConsumable, .autoRenewableSubscription].contains(product.type) }

    private func entry(_ title: Phrase, _ check: Shown.Word, @HTMLBuilder value: () -> HTML) -> Entry {
        Entry(title: title, value: value(), check: check)
    }

    private static func check(_ text: String, _ lengths: ClosedRange<Int>) -> Shown.Word {
        if text.isEmpty { return missing }
        // The service limits the bytes of a text.
        let count = text.count
        if count < lengths.lowerBound { return ("Shorter than \(lengths.lowerBound)", .bad) }
        return count > lengths.upperBound ? ("Longer than \(lengths.upperBound)", .warning) : ready
    }

    var table: HTML {
        Listing.table("Entries in App Store Connect", of: entries, empty: "None.") {
            column("In App Store Connect") { $0.title }
            column("Value") { $0.value }
            column(Phrase("Check", context: "by hand")) { Shown.badge($0.check) }
        }
    }
}
