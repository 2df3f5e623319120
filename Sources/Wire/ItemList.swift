import Commerce

/// The items that a user owns, in order.
public struct ItemList: Codable, Sendable {
    public let items: [Item]

    public init(items: [Item]) {
        self.items = items
    }
}
