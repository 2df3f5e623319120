/// A page of products.
public struct ProductList: Codable, Sendable {
    public let products: [ProductResource]
    /// The `cursor` of the next page. Nil on the last page.
    public let nextCursor: String?

    public init(products: [ProductResource], nextCursor: String? = nil) {
        self.products = products
        self.nextCursor = nextCursor
    }
}
