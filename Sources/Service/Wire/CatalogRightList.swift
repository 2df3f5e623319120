/// A page of rights with their definitions.
package struct CatalogRightList: Codable, Sendable {
    package let rights: [CatalogRightResource]
    /// The `cursor` of the next page. Nil on the last page.
    package var nextCursor: String?
}
