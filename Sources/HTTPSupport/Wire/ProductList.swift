/// A page of products.
package struct ProductList: Codable, Sendable {
    package let products: [ProductResource]
    /// The `cursor` of the next page. Nil on the last page.
    package let nextCursor: String?

    package init(products: [ProductResource], nextCursor: String? = nil) {
        self.products = products
        self.nextCursor = nextCursor
    }
}
