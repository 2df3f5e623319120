/// A page of rights with their definitions.
public struct CatalogRightList: Codable, Sendable {
    public let rights: [CatalogRightResource]
    /// The `cursor` of the next page. Nil on the last page.
    public let nextCursor: String?

    public init(rights: [CatalogRightResource], nextCursor: String? = nil) {
        self.rights = rights
        self.nextCursor = nextCursor
    }
}
