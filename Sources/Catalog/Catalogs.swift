import Proofs

/// The catalogs of a service's apps at one moment.
package struct Catalogs: Sendable {
    /// The catalogs, in the order of the configuration.
    package let all: [Catalog]

    init(_ catalogs: [Catalog]) {
        all = catalogs
    }

    /// The catalog of an app; nil if the service does not have the app.
    package subscript(bundleIdentifier: String) -> Catalog? {
        all.first { $0.bundleIdentifier.hasSameBytes(as: bundleIdentifier) }
    }

    /// The free items, in order. Every user owns them.
    package var ownedByEverybody: [Item] { merged(\.ownedByEverybody) }

    /// The names of all collections, in order.
    package var collections: [String] { merged(\.collections) }

    /// The names of all balances, in order.
    package var balances: [String] { merged(\.balances) }

    /// The type of a product, which is the same in all apps; nil for an unknown product.
    package func type(of productIdentifier: String) -> ProductType? { product(productIdentifier)?.type }

    /// The product of an identifier in the first app that sells it; nil for an unknown product.
    package func product(_ productIdentifier: String) -> Product? {
        for catalog in all {
            if let product = catalog.product(productIdentifier) { return product }
        }
        return nil
    }

    /// True if a product of any app grants an item.
    package func grants(_ item: Item) -> Bool {
        all.contains { $0.product(granting: item) != nil }
    }

    /// The products that grant an item, in the order of the apps.
    ///
    /// - Parameter app: The bundle identifier of the app whose products are returned; nil for all apps.
    package func products(granting item: Item, in app: String? = nil) -> [String] {
        all.filter { app?.hasSameBytes(as: $0.bundleIdentifier) ?? true }.flatMap { catalog in
            catalog.products.map(\.productIdentifier).filter { catalog.benefit(of: $0)?.item == item }
        }
    }

    /// The lists of all apps, merged into one sorted list without duplicates. The list of a single app stays as it is.
    private func merged<Element: Hashable & Comparable>(_ list: (Catalog) -> [Element]) -> [Element] {
        all.count == 1 ? list(all[0]) : Set(all.flatMap(list)).sorted()
    }
}
