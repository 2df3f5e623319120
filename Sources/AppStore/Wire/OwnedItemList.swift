/// The items that a user owns, in order.
public struct OwnedItemList: Codable, Sendable {
    public let items: [OwnedItemResource]

    public init(items: [OwnedItemResource]) {
        self.items = items
    }
}
