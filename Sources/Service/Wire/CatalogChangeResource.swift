import Proofs

/// A change to the catalog.
package struct CatalogChangeResource: Codable, Sendable {
    package let number: Int64
    /// RFC 3339, UTC.
    package let happenedAt: String
    /// The identifier of the API key.
    package let changedBy: String
    /// The name of the API key; nil if the ledger does not have the key.
    package var changedByName: String?
    package let kind: String
    /// The product. Nil for a change of a right or an offering.
    package var productId: String?
    /// The name of the right. Nil for a change of something else.
    package var right: String?
    /// The identifier of the offering. Nil for a change of something else.
    package var offering: String?
    /// True for a change of the current offering, which the definition names. Nil for a change of something else.
    package var isOfCurrentOffering: Bool?
    /// The new definition. Nil for other kinds of change.
    package var definition: JSONContent?
    /// The item with a new picture. Nil for other kinds of change.
    package var item: Item?
    /// The SHA-256 of the new picture, in hexadecimal.
    package var sha256: String?
}
