import Synchronization

/// The present catalog, shared by all its readers. It may change between two reads.
package final class CurrentCatalog: Sendable {
    /// The catalog and its revision, which change together.
    private let state: Mutex<(catalog: Catalog, revision: Int64)>

    /// - Parameter revision: The revision number, which grows with each change.
    package init(_ catalog: Catalog, revision: Int64 = 0) {
        state = Mutex((catalog, revision))
    }

    package var catalog: Catalog { state.withLock { $0.catalog } }

    package var revision: Int64 { state.withLock { $0.revision } }

    package var snapshot: (catalog: Catalog, revision: Int64) { state.withLock { $0 } }

    /// Replaces the catalog.
    package func replace(with catalog: Catalog, revision: Int64) {
        state.withLock { $0 = (catalog, revision) }
    }
}
