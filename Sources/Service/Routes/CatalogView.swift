import Catalog
import HTTPSupport
import Proofs

/// A catalog with the data that the service derives from it.
struct CatalogView: Sendable {
    let catalog: Catalog
    let pictures: PictureAddresses
    let languages: [String]

    /// - Parameter before: The view of the catalog before the change.
    init(_ catalog: Catalog, before: CatalogView? = nil) {
        self.catalog = catalog
        pictures = PictureAddresses(catalog: catalog, before: before?.pictures)
        languages = catalog.languages
    }
}
