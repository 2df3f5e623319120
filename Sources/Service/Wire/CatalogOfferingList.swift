/// A page of offerings with their definitions.
struct CatalogOfferingList: Codable, Sendable {
    let offerings: [CatalogOfferingResource]
    /// The `cursor` of the next page. Nil on the last page.
    var nextCursor: String?
}
