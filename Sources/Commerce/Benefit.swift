/// What buying a product is good for.
public enum Benefit: Hashable, Sendable {
    /// An item, for good: of a non-consumable.
    case item(Item)
    /// An item for so long from the purchase on: of a non-renewing subscription.
    case itemFor(Item, SubscriptionPeriod)
    /// An item for as long as the App Store says that it is paid: of an auto-renewable subscription.
    case itemWhilePaid(Item)
    /// Something to be spent, for each one bought: of a consumable.
    case credit(Credit)

    public var item: Item? {
        switch self {
        case .item(let item), .itemFor(let item, _), .itemWhilePaid(let item): item
        case .credit: nil
        }
    }
}

/// So many of something that a user has and spends, such as 50 seeds.
public struct Credit: Hashable, Sendable, Codable {
    /// What it is called.
    public let balance: String
    /// 1 or more.
    public let amount: Int

    public init(balance: String, amount: Int) {
        self.balance = balance
        self.amount = amount
    }
}
