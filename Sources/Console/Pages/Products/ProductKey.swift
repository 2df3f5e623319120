import Proofs

/// A key of a definition that has a field of its own in the form of a product.
enum ProductKey: String, Sendable, CaseIterable {
    case type
    case referenceName
    case displayPrice
    case collection
    case number
    case duration
    case balance
    case amount
    case subscriptionGroupID
    case subscriptionGroupName
    case groupNumber
    case recurringSubscriptionPeriod
    case familyShareable
    case localizations

    /// The keys for a type of product, in the order of the form.
    static func keys(of type: ProductType) -> [ProductKey] {
        let subscription: [ProductKey] = [
            .subscriptionGroupID, .subscriptionGroupName, .groupNumber, .recurringSubscriptionPeriod,
        ]
        return switch type {
        case .consumable: [.type, .referenceName, .displayPrice, .balance, .amount, .localizations]
        case .nonConsumable:
            [.type, .referenceName, .displayPrice, .collection, .number, .familyShareable, .localizations]
        case .nonRenewingSubscription:
            [.type, .referenceName, .displayPrice, .collection, .number, .duration, .localizations]
        case .autoRenewableSubscription:
            [.type, .referenceName, .displayPrice, .collection, .number] + subscription
                + [.familyShareable, .localizations]
        }
    }

    var title: Phrase {
        switch self {
        case .type: Phrase("Type", "유형")
        case .referenceName: Phrase("Reference name", "참조 이름")
        case .displayPrice: Phrase("Price", "가격")
        case .collection: Phrase("Collection of the item", "아이템 컬렉션")
        case .number: Phrase("Number of the item", "아이템 번호")
        case .duration: Phrase("Duration", "기간")
        case .balance: Phrase("Balance", "잔액 이름")
        case .amount: Phrase("Amount", "수량")
        case .subscriptionGroupID: Phrase("Subscription group, identifier", "구독 그룹 식별자")
        case .subscriptionGroupName: Phrase("Subscription group, name", "구독 그룹 이름")
        case .groupNumber: Phrase("Level in the group (1 is the highest)", "그룹 내 레벨 (1이 가장 높음)")
        case .recurringSubscriptionPeriod: Phrase("Period", "갱신 주기")
        case .familyShareable: Phrase("Family Sharing", "가족 공유")
        case .localizations: Phrase("Texts", "텍스트")
        }
    }

    /// True if the value is a number.
    var isNumber: Bool { [.number, .amount, .groupNumber].contains(self) }

    /// The explanation of a value; nil if the title says it.
    var note: Phrase? {
        switch self {
        case .duration, .recurringSubscriptionPeriod:
            Phrase("Such as P1W, P1M, P3M or P1Y.", "예: P1W, P1M, P3M, P1Y")
        case .displayPrice: Phrase("Such as 1200 or 0.99.", "예: 1200 또는 0.99")
        case .collection: Phrase("Such as sprout, up to 64 bytes.", "예: sprout, 64바이트까지")
        case .balance: Phrase("Letters, digits, - and _.", "영문자, 숫자, -, _")
        case .amount: Phrase("Added for each purchased unit.", "구매 수량 하나당 추가")
        default: nil
        }
    }
}
