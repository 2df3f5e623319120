/// A page of changes to the catalog, newest first.
package struct CatalogChangeList: Codable, Sendable {
    package let changes: [CatalogChangeResource]
    /// The `cursor` of the next page. Nil on the last page.
    package var nextCursor: String?
}
