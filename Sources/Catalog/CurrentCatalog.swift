import Synchronization

/// The catalog as it is now, for all who sell by it: it may change while they do.
public final class CurrentCatalog: Sendable {
    /// The two belong together.
    private let state: Mutex<(catalog: Catalog, revision: Int64)>

    /// - Parameter revision: Grows with each change.
    public init(_ catalog: Catalog, revision: Int64 = 0) {
        state = Mutex((catalog, revision))
    }

    public var catalog: Catalog { state.withLock { $0.catalog } }

    public var revision: Int64 { state.withLock { $0.revision } }

    public var snapshot: (catalog: Catalog, revision: Int64) { state.withLock { $0 } }

    /// Puts another in its place.
    public func replace(with catalog: Catalog, revision: Int64) {
        state.withLock { $0 = (catalog, revision) }
    }
}
