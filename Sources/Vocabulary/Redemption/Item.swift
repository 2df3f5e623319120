import Proofs

/// An item that a user can own, such as sprout 1 or background 3. Number 0 of a collection is free.
public struct Item: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The collection of the item, such as `sprout`.
    public let collection: String
    public let number: Int

    public init(collection: String, number: Int) {
        self.collection = collection
        self.number = number
    }

    public var description: String { "\(collection) \(number)" }

    public static func == (left: Item, right: Item) -> Bool {
        left.number == right.number && ByteKey(left.collection) == ByteKey(right.collection)
    }

    public static func < (left: Item, right: Item) -> Bool {
        let (first, second) = (ByteKey(left.collection), ByteKey(right.collection))
        return first == second ? left.number < right.number : first < second
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ByteKey(collection))
        hasher.combine(number)
    }
}

public enum Benefit: Hashable, Sendable {
    /// A permanent item of a non-consumable.
    case item(Item)
    /// An item of a non-renewing subscription, for a period from the purchase.
    case itemFor(Item, SubscriptionPeriod)
    /// An item of an auto-renewable subscription, while the App Store reports it as paid.
    case itemWhilePaid(Item)
    /// An amount to spend, for each purchased unit of a consumable.
    case credit(Credit)

    public var item: Item? {
        switch self {
        case .item(let item), .itemFor(let item, _), .itemWhilePaid(let item): item
        case .credit: nil
        }
    }
}

/// An amount that a user has and spends, such as 50 seeds.
public struct Credit: Hashable, Sendable, Codable {
    public let balance: String
    /// The amount, at least 1.
    public let amount: Int

    public init(balance: String, amount: Int) {
        self.balance = balance
        self.amount = amount
    }
}
