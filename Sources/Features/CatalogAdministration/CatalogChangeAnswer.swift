/// The result of a change to the catalog.
package enum CatalogChangeAnswer: Hashable, Sendable {
    case changed
    /// The change's number is not the next: another caller has changed the catalog meanwhile.
    case outdated
    case picturesTooLarge
}
