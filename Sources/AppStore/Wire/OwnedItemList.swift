/// The items that a user owns, in order.
package struct OwnedItemList: Codable, Sendable {
    package let items: [OwnedItemResource]

    package init(items: [OwnedItemResource]) {
        self.items = items
    }
}
