/// A page of changes to the catalog, newest first.
public struct CatalogChangeList: Codable, Sendable {
    public let changes: [CatalogChangeResource]
    /// The value of the query parameter `cursor` for the next page; nil on the last.
    public let nextCursor: String?

    public init(changes: [CatalogChangeResource], nextCursor: String? = nil) {
        self.changes = changes
        self.nextCursor = nextCursor
    }
}
