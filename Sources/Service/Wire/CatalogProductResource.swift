/// A product with its definition, as administrators see it.
package struct CatalogProductResource: Codable, Sendable {
    package let productId: String
    package let isWithdrawn: Bool
    /// True if an administrator has set the definition. False if it is the file's.
    package let isAdministered: Bool
    /// The definition in the form of an Xcode StoreKit configuration.
    package let definition: JSONContent
    /// The address of the item's picture. Nil if it has none.
    package var picture: String?
}
