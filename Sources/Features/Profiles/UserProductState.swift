import Ledger
import Proofs

/// The wishes and the items of a user.
package struct UserProductState: Sendable {
    private let wishes: [String: Timestamp]
    private let items: Set<Item>

    init(wishes: [Wish], items: Set<Item>) {
        self.wishes = Dictionary(wishes.map { ($0.productIdentifier, $0.wishedAt) }) { first, _ in first }
        self.items = items
    }

    /// The time of the wish for a product; nil if there is none.
    package func wishedAt(_ productIdentifier: String) -> Timestamp? { wishes[productIdentifier] }

    /// Returns true if the user owns the item that a product grants. A consumable is never owned.
    package func owns(_ benefit: Benefit?) -> Bool {
        benefit?.item.map(items.contains) ?? false
    }
}
