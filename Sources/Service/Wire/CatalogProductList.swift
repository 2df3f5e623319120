/// A page of products with their definitions.
public struct CatalogProductList: Codable, Sendable {
    public let products: [CatalogProductResource]
    /// The `cursor` of the next page. Nil on the last page.
    public let nextCursor: String?

    public init(products: [CatalogProductResource], nextCursor: String? = nil) {
        self.products = products
        self.nextCursor = nextCursor
    }
}
