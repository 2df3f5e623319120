/// A page of products.
public struct ProductList: Codable, Sendable {
    public let products: [ProductResource]
    /// The value of the query parameter `cursor` for the next page; nil on the last.
    public let nextCursor: String?

    public init(products: [ProductResource], nextCursor: String? = nil) {
        self.products = products
        self.nextCursor = nextCursor
    }
}
