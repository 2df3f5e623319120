/// The changes that a list of changes has.
package enum CatalogChangeFilter: Hashable, Sendable {
    case all
    /// Only changes of products.
    case products
    /// Only changes of one product, right or offering, or of the current offering.
    case only(CatalogSubject)
}
