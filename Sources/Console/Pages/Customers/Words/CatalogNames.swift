import Catalog
import Features
import Ledger
import Proofs

/// The names of items and products in the catalogs.
struct CatalogNames {
    let catalogs: Catalogs

    /// The items of the catalogs and the free ones, in order.
    var items: [Item] {
        let granted = catalogs.all.flatMap { catalog in
            catalog.products.compactMap { catalog.benefit(of: $0.productIdentifier)?.item }
        }
        return Set(granted + catalogs.ownedByEverybody).sorted()
    }

    /// The name of a product; its identifier if the catalogs have no name.
    func product(_ identifier: String) -> Phrase {
        catalogs.product(identifier).flatMap(Self.name) ?? Phrase(same: identifier)
    }

    /// The item with the name of a product that grants it: "Mint Sprout (sprout 2)".
    func item(_ item: Item) -> Phrase {
        let product = catalogs.all.lazy.compactMap { $0.product(granting: item) }.first
        guard let name = product.flatMap(Self.name) else { return Phrase(same: item.description) }
        return Phrase("\(name.english) (\(item))", "\(name.korean) (\(item))")
    }

    private static func name(_ product: Product) -> Phrase? {
        let names = ConsoleLanguage.allCases.map { product.localization(language: $0.rawValue)?.displayName ?? "" }
        guard let english = names.first, let korean = names.last, !english.isEmpty, !korean.isEmpty else { return nil }
        return Phrase(english, korean)
    }

    /// The item's picture beside its name; nothing without a picture.
    func picture(_ item: Item) -> HTML? {
        guard catalogs.all.contains(where: { $0.pictures[item] != nil }) else { return nil }
        return img(
            .class("picture"), .src(ConsolePath("item-pictures", item.collection, String(item.number))),
            HTMLAttribute("alt", ""), HTMLAttribute("width", "56"), HTMLAttribute("height", "56"))
    }

    /// The products whose identifier or name contains a text, at most ten.
    func products(matching text: String) -> [Product] {
        let wanted = text.lowercased()
        guard (3...64).contains(wanted.utf8.count) else { return [] }
        var found: [Product] = []
        for product in catalogs.all.flatMap(\.products) where found.count < 10 {
            let texts = [product.productIdentifier] + product.localizations.map(\.displayName)
            let isKnown = found.contains { $0.productIdentifier.hasSameBytes(as: product.productIdentifier) }
            if !isKnown, texts.contains(where: { $0.lowercased().contains(wanted) }) { found.append(product) }
        }
        return found
    }
}

/// The words of the pages about customers.
enum CustomerWords {
    /// A text from outside within a sentence, isolated so that its direction does not affect the sentence (UAX #9).
    static func isolated(_ text: String) -> String {
        let isControl: (Unicode.Scalar) -> Bool = { (0x2066...0x2069).contains($0.value) }
        let content =
            text.unicodeScalars.contains(where: isControl)
            ? String(String.UnicodeScalarView(text.unicodeScalars.filter { !isControl($0) })) : text
        return "\u{2068}\(content)\u{2069}"
    }

    /// The day of a moment in UTC: "22 December 2026".
    static func day(_ moment: Timestamp) -> Phrase {
        let parts = CalendarDay(moment).description.split(separator: "-")
        guard parts.count == 3, let month = Int(parts[1]), months.indices.contains(month - 1), let day = Int(parts[2])
        else { return Phrase(same: moment.rfc3339) }
        return Phrase("\(day) \(months[month - 1]) \(parts[0])", "\(parts[0])년 \(month)월 \(day)일")
    }

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]

    static func period(_ period: SubscriptionPeriod) -> Phrase {
        switch (period.value, period.unit) {
        case (1, .day): Phrase("daily", "매일")
        case (1, .week): Phrase("weekly", "매주")
        case (1, .month): Phrase("monthly", "매월")
        case (1, .year): Phrase("yearly", "매년")
        case (let count, .day): Phrase("every \(count) days", "\(count)일마다")
        case (let count, .week): Phrase("every \(count) weeks", "\(count)주마다")
        case (let count, .month): Phrase("every \(count) months", "\(count)개월마다")
        case (let count, .year): Phrase("every \(count) years", "\(count)년마다")
        }
    }

    static func issuer(_ issuer: String) -> HTML {
        switch issuer {
        case "": HTML { Phrase("Your back end", "팀의 백엔드") }
        case User.accountIssuer: HTML { Phrase("Account at Till", "Till 계정") }
        default: Shown.identifier(issuer)
        }
    }

    static func state(_ state: PurchaseState) -> Phrase {
        switch state {
        case .trial: Phrase("free trial", "무료 체험")
        case .introductory: Phrase("introductory offer", "신규 구독 혜택")
        case .active: Phrase("active", "이용 중")
        case .willNotRenew: Phrase("active, renewal is off", "이용 중, 갱신 꺼짐")
        case .gracePeriod: Phrase("grace period", "유예 기간")
        case .billingRetry: Phrase("not paid", "결제 실패")
        case .expired: Phrase("expired", "만료")
        case .revoked: Phrase("revoked", "회수됨")
        case .upgraded: Phrase("upgraded", "상위 상품으로 변경")
        case .owned: Phrase("owned", "보유")
        case .consumed: Phrase("added to a balance", "잔액에 더함")
        case .refunded: Phrase("refunded", "환불됨")
        case .familyShared: Phrase("shared by the family", "가족 공유")
        case .unclaimed: Phrase("unclaimed", "주인 없음")
        }
    }

    static func badge(_ state: PurchaseState) -> HTML {
        Shown.badge(CustomerWords.state(state), mood(state))
    }

    private static func mood(_ state: PurchaseState) -> Shown.Mood {
        switch state {
        case .trial, .introductory, .active, .owned, .familyShared, .consumed: .good
        case .willNotRenew, .gracePeriod, .billingRetry, .unclaimed: .warning
        case .revoked, .refunded: .bad
        case .expired, .upgraded: .neutral
        }
    }

    static func reason(_ reason: ExpirationReason) -> Phrase {
        switch reason {
        case .customerCancelled: Phrase("the customer turned renewal off", "고객이 갱신을 껐습니다")
        case .billingError: Phrase("the renewal could not be charged", "갱신 요금을 결제하지 못했습니다")
        case .customerDidNotConsentToPriceIncrease:
            Phrase("the customer did not consent to a price increase", "고객이 가격 인상에 동의하지 않았습니다")
        case .productNotAvailable:
            Phrase("the product was not available at the renewal", "갱신할 때 상품을 판매하지 않았습니다")
        case .other: Phrase("another reason", "그 밖의 이유")
        }
    }
}
