/// A product with its definition, as administrators see it.
public struct CatalogProductResource: Codable, Sendable {
    public let productId: String
    public let isWithdrawn: Bool
    /// True for a definition that an administrator has set; false for the file's.
    public let isAdministered: Bool
    /// The definition in the form of an Xcode StoreKit configuration.
    public let definition: JSONContent
    /// The address of the item's picture; nil without one.
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
