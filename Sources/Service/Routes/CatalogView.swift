import Catalog
import Commerce
import HTTPSupport

/// A catalog and what the service's answers need of it.
struct CatalogView: Sendable {
    let catalog: Catalog
    let pictures: PictureAddresses
    let languages: [String]

    /// - Parameter before: Of the catalog before it was changed.
    init(_ catalog: Catalog, before: CatalogView? = nil) {
        self.catalog = catalog
        pictures = PictureAddresses(catalog: catalog, before: before?.pictures)
        languages = catalog.languages
    }
}
