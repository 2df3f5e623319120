import Commerce
import Ledger

/// What a user has to do with the products of the catalog.
public struct Shelf: Sendable {
    private let wishes: [String: Timestamp]
    private let items: Set<Item>

    init(wishes: [Wish], items: Set<Item>) {
        self.wishes = Dictionary(wishes.map { ($0.productIdentifier, $0.wishedAt) }) { first, _ in first }
        self.items = items
    }

    /// nil where the user does not wish for it.
    public func wishedAt(_ productIdentifier: String) -> Timestamp? { wishes[productIdentifier] }

    /// Whether the user owns what a product grants; a consumable is never owned.
    public func owns(_ benefit: Benefit?) -> Bool {
        benefit?.item.map(items.contains) ?? false
    }
}
