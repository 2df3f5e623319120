/// A product with its definition, as administrators see it.
public struct CatalogProductResource: Codable, Sendable {
    public let productId: String
    public let isWithdrawn: Bool
    /// True if an administrator has set the definition. False if it is the file's.
    public let isAdministered: Bool
    /// The definition in the form of an Xcode StoreKit configuration.
    public let definition: JSONContent
    /// The address of the item's picture. Nil if it has none.
    public let picture: String?

    public init(
        productId: String,
        isWithdrawn: Bool,
        isAdministered: Bool,
        definition: JSONContent,
        picture: String? = nil
    ) {
        self.productId = productId
        self.isWithdrawn = isWithdrawn
        self.isAdministered = isAdministered
        self.definition = definition
        self.picture = picture
    }
}
