import Proofs

/// A right of the catalog, such as `premium`. The protocol calls it an entitlement.
package struct CustomerRight: Hashable, Sendable {
    package let identifier: String
    /// The products that give the right, directly or through their items.
    package let productIdentifiers: [String]
    /// The items that belong to the right.
    package let items: [Item]

    package init(identifier: String, productIdentifiers: [String], items: [Item] = []) {
        self.identifier = identifier
        self.productIdentifiers = productIdentifiers
        self.items = items
    }
}
