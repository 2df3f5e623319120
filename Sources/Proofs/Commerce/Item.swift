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
