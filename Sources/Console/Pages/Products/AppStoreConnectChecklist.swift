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
                title: Phrase("Review screenshot", "심사용 스크린샷"),
                value: HTML { Phrase("a screenshot of the purchase in the app", "앱의 구매 화면 스크린샷") }, check: .byHand),
            Entry(
                title: Phrase("Availability and tax category", "판매 국가와 세금 범주"),
                value: HTML { Phrase("the countries that sell the app", "앱을 판매하는 국가") }, check: .byHand),
        ]
    }

    private var general: [Entry] {
        let isIdentifier = product.productIdentifier.wholeMatch(of: /[A-Za-z0-9._-]+/) != nil
        return [
            Entry(
                title: Phrase("Type", "유형"), value: HTML { product.type.title }, check: .ready),
            Entry(
                title: Phrase("Product ID", "제품 ID"), value: Shown.identifier(product.productIdentifier),
                check: isIdentifier
                    ? Self.check(product.productIdentifier, 1...Self.maximumIdentifierLength) : .notAccepted),
            Entry(
                title: Phrase("Reference name", "참조 이름"), value: data(product.referenceName),
                check: Self.check(product.referenceName, 1...Self.maximumReferenceNameLength)),
        ]
    }

    private var subscription: [Entry] {
        guard let subscription = product.subscription else { return [] }
        return [
            Entry(
                title: Phrase("Subscription group", "구독 그룹"), value: data(subscription.groupName),
                check: Self.check(subscription.groupName, 1...Self.maximumReferenceNameLength)),
            Entry(
                title: Phrase("Level in the group", "그룹 내 레벨"), value: plain(String(subscription.level)),
                check: subscription.level > 0 ? .ready : .notAccepted),
            Entry(
                title: Phrase("Subscription duration", "구독 기간"),
                value: HTML { subscription.period.words() },
                check: Self.durations.contains(subscription.period.description) ? .ready : .notAccepted),
        ]
    }

    private var price: Entry {
        Entry(
            title: Phrase("Price in the storefront \(storefront.countryCode)", "스토어프론트 \(storefront.countryCode)의 가격"),
            value: Shown.money(product.price), check: .ready)
    }

    private var localizations: [Entry] {
        guard !product.localizations.isEmpty else {
            return [Entry(title: Phrase("Localization", "현지화"), value: Shown.nothing, check: .missing)]
        }
        return product.localizations.flatMap { localization in
            let language = localization.locale.replacing("_", with: "-")
            return [
                Entry(
                    title: Phrase("Display name (\(language))", "표시 이름 (\(language))"),
                    value: data(localization.displayName),
                    check: Self.check(localization.displayName, Self.displayNameLengths)),
                Entry(
                    title: Phrase("Description (\(language))", "설명 (\(language))"),
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
            title: Phrase("Family Sharing", "가족 공유"),
            value: HTML { product.isFamilyShareable ? Phrase("on", "켬") : Phrase("off", "끔") },
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
        Listing.table(
            Phrase("Entries in App Store Connect", "App Store Connect에 입력할 항목"), of: entries,
            empty: Phrase("None.", "없음.")
        ) {
            column(Phrase("In App Store Connect", "App Store Connect 항목")) { $0.title }
            column(Phrase("Value", "값")) { $0.value }
            column(Phrase("Check", "확인")) { Self.badge(of: $0.check) }
        }
    }

    private static func badge(of check: Check) -> HTML {
        switch check {
        case .ready: Shown.badge(Phrase("Enter this value", "이 값을 입력"), .good)
        case .missing: Shown.badge(Phrase("Missing in the catalog", "카탈로그에 없음"), .bad)
        case .tooShort(let minimum): Shown.badge(Phrase("Shorter than \(minimum)", "\(minimum)자 미만"), .bad)
        case .tooLong(let maximum): Shown.badge(Phrase("Longer than \(maximum)", "\(maximum)자 초과"), .warning)
        case .notAccepted: Shown.badge(Phrase("Not accepted by Apple", "Apple에서 허용하지 않음"), .bad)
        case .byHand: Shown.badge(Phrase("Check by hand", "직접 확인"))
        }
    }
}
