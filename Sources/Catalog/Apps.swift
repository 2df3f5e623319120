import Proofs

/// The apps of a service.
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

    /// The present catalogs.
    package var catalogs: Catalogs { Catalogs(all.map(\.catalog)) }

    /// The type of a product, which is the same in all apps; nil for an unknown product.
    package func type(of productIdentifier: String) -> ProductType? { product(productIdentifier)?.type }

    /// The product of an identifier in the first app that sells it; nil for an unknown product.
    package func product(_ productIdentifier: String) -> Product? { catalogs.product(productIdentifier) }

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
