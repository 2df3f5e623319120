/// A page of products with their definitions.
package struct CatalogProductList: Codable, Sendable {
    package let products: [CatalogProductResource]
    /// The `cursor` of the next page. Nil on the last page.
    package var nextCursor: String?
}
