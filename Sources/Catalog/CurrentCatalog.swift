import Synchronization

/// The present catalog, shared by all its readers. It may change between two reads.
public final class CurrentCatalog: Sendable {
    /// The catalog and its revision, which change together.
    private let state: Mutex<(catalog: Catalog, revision: Int64)>

    /// - Parameter revision: The revision number, which grows with each change.
    public init(_ catalog: Catalog, revision: Int64 = 0) {
        state = Mutex((catalog, revision))
    }

    public var catalog: Catalog { state.withLock { $0.catalog } }

    public var revision: Int64 { state.withLock { $0.revision } }

    public var snapshot: (catalog: Catalog, revision: Int64) { state.withLock { $0 } }

    /// Replaces the catalog.
    public func replace(with catalog: Catalog, revision: Int64) {
        state.withLock { $0 = (catalog, revision) }
    }
}
