/// A page of products with their definitions.
public struct CatalogProductList: Codable, Sendable {
    public let products: [CatalogProductResource]
    /// The value of the query parameter `cursor` for the next page; nil on the last.
    public let nextCursor: String?

    public init(products: [CatalogProductResource], nextCursor: String? = nil) {
        self.products = products
        self.nextCursor = nextCursor
    }
}
