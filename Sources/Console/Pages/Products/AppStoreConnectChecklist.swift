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

    var entries: [Entry] {
        general + subscription + [price] + localizations + offers + [
            familySharing,
            Entry(
                title: "Review screenshot", value: HTML { "a screenshot of the purchase in the app" }, check: .byHand),
            Entry(
                title: "Availability and tax category",
                value: HTML { "the countries that sell the app" }, check: .byHand),
        ]
    }

    private var general: [Entry] {
        let isIdentifier = product.productIdentifier.wholeMatch(of: /[A-Za-z0-9._-]+/) != nil
        return [
            Entry(title: "Type", value: HTML { product.type.title }, check: .ready),
            Entry(
                title: "Product ID", value: Shown.identifier(product.productIdentifier),
                check: isIdentifier
                    ? Self.check(product.productIdentifier, 1...Self.maximumIdentifierLength) : .notAccepted),
            Entry(
                title: "Reference name", value: data(product.referenceName),
                check: Self.check(product.referenceName, 1...Self.maximumReferenceNameLength)),
        ]
    }

    private var subscription: [Entry] {
        guard let subscription = product.subscription else { return [] }
        return [
            Entry(
                title: "Subscription group", value: data(subscription.groupName),
                check: Self.check(subscription.groupName, 1...Self.maximumReferenceNameLength)),
            Entry(
                title: "Level in the group", value: plain(String(subscription.level)),
                check: subscription.level > 0 ? .ready : .notAccepted),
            Entry(
                title: "Subscription duration",
                value: HTML { subscription.period.words() },
                check: Self.durations.contains(subscription.period.description) ? .ready : .notAccepted),
        ]
    }

    private var price: Entry {
        Entry(
            title: "Price in the storefront \(storefront.countryCode)",
            value: Shown.money(product.price), check: .ready)
    }

    private var localizations: [Entry] {
        guard !product.localizations.isEmpty else {
            return [Entry(title: "Localization", value: Shown.nothing, check: .missing)]
        }
        return product.localizations.flatMap { localization in
            let language = localization.locale.replacing("_", with: "-")
            return [
                Entry(
                    title: "Display name (\(language))",
                    value: data(localization.displayName),
                    check: Self.check(localization.displayName, Self.displayNameLengths)),
                Entry(
                    title: "Description (\(language))",
                    value: data(localization.description),
                    check: Self.check(localization.description, 1...Self.maximumDescriptionLength)),
            ]
        }
    }

    private var offers: [Entry] {
        (product.subscription?.offers ?? []).map { offer in
            Entry(
                title: offer.kind.title,
                value: HTML {
                    if let identifier = offer.identifier {
                        Shown.identifier(identifier)
                        plain(" · ")
                    }
                    ProductWords.terms(of: offer)
                }, check: .ready)
        }
    }

    private var familySharing: Entry {
        let isPossible = [.nonConsumable, .autoRenewableSubscription].contains(product.type)
        return Entry(
            title: "Family Sharing",
            value: HTML { product.isFamilyShareable ? "on" : "off" },
            check: isPossible || !product.isFamilyShareable ? .ready : .notAccepted)
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
