/// A page of changes to the catalog, newest first.
public struct CatalogChangeList: Codable, Sendable {
    public let changes: [CatalogChangeResource]
    /// The `cursor` of the next page. Nil on the last page.
    public let nextCursor: String?

    public init(changes: [CatalogChangeResource], nextCursor: String? = nil) {
        self.changes = changes
        self.nextCursor = nextCursor
    }
}
