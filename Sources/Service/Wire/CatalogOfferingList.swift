/// A page of offerings with their definitions.
public struct CatalogOfferingList: Codable, Sendable {
    public let offerings: [CatalogOfferingResource]
    /// The `cursor` of the next page. Nil on the last page.
    public let nextCursor: String?

    public init(offerings: [CatalogOfferingResource], nextCursor: String? = nil) {
        self.offerings = offerings
        self.nextCursor = nextCursor
    }
}
