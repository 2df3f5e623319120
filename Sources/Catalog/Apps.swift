import Proofs
import Synchronization

package struct Apps: Sendable {
    /// The app of the local store and of the seed's app.
    package let first: App
    /// All apps, in the order of the configuration.
    package let all: [App]

    package init(_ app: App) {
        first = app
        all = [app]
    }

    /// - Throws: `AppsError` if there is no app, if two have one bundle identifier, or if two sell products of one identifier
    ///   and different types.
    package init(_ apps: [App]) throws(AppsError) {
        guard let first = apps.first else { throw .empty }
        var known: Set<ByteKey> = []
        for app in apps {
            guard known.insert(ByteKey(app.bundleIdentifier)).inserted else {
                throw .bundleIdentifierRepeated(app.bundleIdentifier)
            }
        }
        self.first = first
        all = apps
        for app in apps {
            for product in app.files.products { try check(product, of: app) }
        }
    }

    /// The app of a bundle identifier; nil if the service has none.
    package subscript(bundleIdentifier: String) -> App? {
        all.first { $0.bundleIdentifier.hasSameBytes(as: bundleIdentifier) }
    }

    package var catalogs: Catalogs { Catalogs(all: all.map(\.catalog)) }

    /// The versions of the catalogs, in the order of the apps. Another list means that a catalog has changed.
    package var revisions: [Int64] { all.map(\.current.version) }

    /// The type of a product, which is the same in all apps; nil for an unknown product.
    package func type(of productIdentifier: String) -> ProductType? { product(productIdentifier)?.type }

    /// The product of an identifier in the first app that sells it; nil for an unknown product.
    package func product(_ productIdentifier: String) -> Product? {
        // Without a list of the catalogs, which each product of an answer would make.
        for app in all {
            if let product = app.catalog.product(productIdentifier) { return product }
        }
        return nil
    }

    /// Verifies that no other app sells a product of the same identifier and another type.
    ///
    /// A proof need not state the type of its product. Therefore an identifier has the same type in all apps.
    ///
    /// - Throws: `AppsError`, `productTypesDiffer`.
    package func check(_ product: Product, of app: App) throws(AppsError) {
        for other in all where other.bundleIdentifier != app.bundleIdentifier {
            guard let type = other.catalog.product(product.productIdentifier)?.type, type != product.type else {
                continue
            }
            throw .productTypesDiffer(
                product.productIdentifier, app: app.bundleIdentifier, other: other.bundleIdentifier)
        }
    }
}

/// An app of a service: its identifiers and its catalog.
package final class App: Sendable {
    /// The number of the app in the App Store; nil if it is unknown.
    package let appAppleIdentifier: Int64?
    package let bundleIdentifier: String
    package let current: CurrentCatalog
    private let loaded: Mutex<Catalog>

    /// - Parameter appAppleIdentifier: The number that notifications must state (`appAppleId`); nil accepts any.
    package init(_ files: Catalog, appAppleIdentifier: Int64? = nil) {
        loaded = Mutex(files)
        bundleIdentifier = files.bundleIdentifier
        self.appAppleIdentifier = appAppleIdentifier
        current = CurrentCatalog(files)
    }

    /// The catalog of the files alone, without the changes in the ledger.
    package var files: Catalog { loaded.withLock(\.self) }

    package var catalog: Catalog { current.catalog }

    /// Replaces the files of the app, and its catalog with the changes in the ledger.
    package func replace(files: Catalog, with catalog: Catalog, revision: Int64) {
        loaded.withLock { $0 = files }
        current.replace(with: catalog, revision: revision)
    }
}

/// An invalid list of apps.
package enum AppsError: CodedError, Equatable {
    case empty
    case bundleIdentifierRepeated(String)
    case productTypesDiffer(_ productIdentifier: String, app: String, other: String)

    package var code: String { "appsInvalid" }

    package var message: String {
        switch self {
        case .empty: "The list of apps is empty; add one, or leave the list out."
        case .bundleIdentifierRepeated(let bundleIdentifier):
            "Two apps have the bundle identifier \"\(bundleIdentifier)\"; remove one, or correct `bundleId` in its "
                + "\(Catalog.itemsFile)."
        case .productTypesDiffer(let product, let app, let other):
            "The apps \"\(app)\" and \"\(other)\" sell the product \"\(product)\" as different types; give it one type, or two "
                + "identifiers."
        }
    }
}

/// The present catalog, shared by all its readers. It may change between two reads.
package final class CurrentCatalog: Sendable {
    /// The catalog, its revision and its version, which change together.
    private let state: Mutex<(catalog: Catalog, revision: Int64, version: Int64)>

    /// - Parameter revision: The number of the last change in the ledger.
    package init(_ catalog: Catalog, revision: Int64 = 0) {
        state = Mutex((catalog, revision, 0))
    }

    package var catalog: Catalog { state.withLock { $0.catalog } }

    package var revision: Int64 { state.withLock { $0.revision } }

    /// The number of changes since the start of the process, of the ledger or of the files.
    package var version: Int64 { state.withLock { $0.version } }

    package var snapshot: (catalog: Catalog, revision: Int64) { state.withLock { ($0.catalog, $0.revision) } }

    package var versioned: (catalog: Catalog, version: Int64) { state.withLock { ($0.catalog, $0.version) } }

    package func replace(with catalog: Catalog, revision: Int64) {
        state.withLock { $0 = (catalog, revision, $0.version + 1) }
    }
}
