import Catalog
import Synchronization

/// The view of the current catalog, rebuilt after a change of the catalog.
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
