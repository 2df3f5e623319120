import Catalog
import Commerce
import HTTPSupport
import Synchronization

/// A catalog and what the service's answers need of it.
struct CatalogView: Sendable {
    let catalog: Catalog
    let pictures: PictureAddresses
    let languages: [String]
    let collections: [String]

    /// - Parameter before: Of the catalog before it was changed.
    init(_ catalog: Catalog, before: CatalogView? = nil) {
        self.catalog = catalog
        pictures = PictureAddresses(catalog: catalog, before: before?.pictures)
        languages = catalog.languages
        collections = catalog.collections
    }
}

/// The view of the catalog as it is now, made anew when the catalog has changed.
final class CurrentCatalogView: Sendable {
    private let current: CurrentCatalog
    private let last: Mutex<(view: CatalogView, revision: Int64)>

    init(_ current: CurrentCatalog) {
        self.current = current
        let (catalog, revision) = current.snapshot
        last = Mutex((CatalogView(catalog), revision))
    }

    var view: CatalogView {
        last.withLock { last in
            if last.revision != current.revision {
                let (catalog, revision) = current.snapshot
                last = (CatalogView(catalog, before: last.view), revision)
            }
            return last.view
        }
    }
}
