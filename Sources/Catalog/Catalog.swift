import Commerce
import Foundation
import StrictJSON

/// What one app sells, and which item each purchase grants.
public struct Catalog: Sendable {
    /// The name of the `.storekit` file in a catalog's folder.
    public static let configurationFile = "Till.storekit"
    /// The name of the file that maps products to items.
    public static let itemsFile = "Items.json"

    public let bundleIdentifier: String
    /// What is sold, and where.
    public let configuration: StoreKitConfiguration
    /// The items nobody has to buy, in order.
    public let ownedByEverybody: [Item]
    /// What items look like, of those that have a picture.
    public let pictures: [Item: Picture]
    private let benefits: [String: Benefit]

    /// Loads a catalog from its folder.
    ///
    /// - Throws: `CatalogError` for the first thing a typo can break: a file that is missing or is no JSON, a key that is
    ///   missing or of another type, an identifier or item that is there twice, a price that is no number, a product that
    ///   the other file does not know, a picture of no item.
    public init(folder: URL) throws(CatalogError) {
        configuration = try StoreKitConfiguration(
            try CatalogReader(contentsOf: folder.appending(path: Self.configurationFile, directoryHint: .notDirectory)))
        let map = try ItemMap(
            try CatalogReader(contentsOf: folder.appending(path: Self.itemsFile, directoryHint: .notDirectory)),
            products: configuration.products)
        bundleIdentifier = map.bundleIdentifier
        ownedByEverybody = map.ownedByEverybody
        benefits = map.benefits
        pictures = try Picture.all(in: folder, of: ownedByEverybody + benefits.values.compactMap(\.item))
    }

    /// In the order of the `.storekit` file.
    public var products: [Product] { configuration.products }

    public var storefront: Storefront { configuration.storefront }

    public func product(_ productIdentifier: String) -> Product? { configuration.product(productIdentifier) }

    /// What buying a product is good for; nil for one that is not in the catalog.
    public func benefit(of productIdentifier: String) -> Benefit? {
        benefits[productIdentifier]
    }

    /// The product that grants an item; nil for one that is free or unknown.
    public func product(granting item: Item) -> Product? {
        products.first { benefits[$0.productIdentifier]?.item == item }
    }

    /// The names of all collections, in order.
    public var collections: [String] {
        Set(benefits.values.compactMap(\.item?.collection) + ownedByEverybody.map(\.collection)).sorted()
    }

    /// The names of all balances, in order.
    public var balances: [String] {
        let names = benefits.values.compactMap { benefit in
            if case .credit(let credit) = benefit { credit.balance } else { nil }
        }
        return Set(names).sorted()
    }
}
