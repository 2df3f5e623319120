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
    public private(set) var pictures: [Item: Picture]
    /// In the order of the `.storekit` file, then in the order in which they came; withdrawn ones too.
    public private(set) var products: [Product]
    /// The identifiers of products that are sold no more. What was sold stays good for what it was.
    public private(set) var withdrawn: Set<ByteKey> = []
    /// The identifiers of products that are not as the files have them.
    public private(set) var administered: Set<ByteKey> = []
    /// Where each product stands among them.
    private var places: [ByteKey: Int]
    private var benefits: [ByteKey: Benefit]
    private var definitions: [ByteKey: JSONObject]

    /// Loads a catalog from its folder.
    ///
    /// - Throws: `CatalogError` for the first thing a typo can break: a file that is missing or is no JSON, a key that is
    ///   missing or of another type, an identifier or item that is there twice, a price that is no number, a product that
    ///   the other file does not know, a picture of no item.
    public init(folder: URL) throws(CatalogError) {
        configuration = try StoreKitConfiguration(
            file: folder.appending(path: Self.configurationFile, directoryHint: .notDirectory).path)
        let map = try ItemMap(
            try CatalogReader(contentsOf: folder.appending(path: Self.itemsFile, directoryHint: .notDirectory)),
            products: configuration.products)
        products = configuration.products
        places = Dictionary(uniqueKeysWithValues: zip(products.map { ByteKey($0.productIdentifier) }, products.indices))
        definitions = configuration.entries.reduce(into: [:]) {
            $0[ByteKey($1.key)] = ProductDefinition.merged($1.value, map.entries[$1.key])
        }
        bundleIdentifier = map.bundleIdentifier
        ownedByEverybody = map.ownedByEverybody
        benefits = Dictionary(uniqueKeysWithValues: map.benefits.map { (ByteKey($0.key), $0.value) })
        pictures = try Picture.all(in: folder, of: ownedByEverybody + benefits.values.compactMap(\.item))
    }

    /// Adds to what the files say what is administered beside them, which counts before them.
    ///
    /// - Parameters:
    ///   - definitions: Each of another product, in the order in which they came.
    ///   - withdrawn: Also of products that the files have no more.
    ///   - pictures: Those of items, also of none that is there.
    /// - Throws: `CatalogError` for a definition that no catalog can have beside the others, such as an item that is given
    ///   twice.
    public mutating func administer(
        _ definitions: [ProductDefinition],
        withdrawn: Set<String>,
        pictures: [Item: Picture]
    ) throws(CatalogError) {
        for definition in definitions { benefits[ByteKey(definition.product.productIdentifier)] = nil }
        var claimed = claimedItems
        for definition in definitions { try define(definition, claimed: &claimed) }
        self.withdrawn = Set(withdrawn.map { ByteKey($0) }).intersection(benefits.keys)
        self.pictures.merge(pictures) { $1 }
    }

    /// Creates a product, or says something else of one.
    ///
    /// - Throws: `CatalogError` for a definition that does not fit the others; then nothing is changed.
    public mutating func define(_ definition: ProductDefinition) throws(CatalogError) {
        let identifier = ByteKey(definition.product.productIdentifier)
        let before = benefits.removeValue(forKey: identifier)
        var claimed = claimedItems
        benefits[identifier] = before
        try define(definition, claimed: &claimed)
    }

    private mutating func define(
        _ definition: ProductDefinition,
        claimed: inout Set<Item>
    ) throws(CatalogError) {
        let identifier = ByteKey(definition.product.productIdentifier)
        benefits[identifier] = try ItemMap.benefit(definition.entry, of: definition.product, claimed: &claimed)
        definitions[identifier] = definition.object
        administered.insert(identifier)
        if let place = places[identifier] {
            products[place] = definition.product
        } else {
            places[identifier] = products.count
            products.append(definition.product)
        }
    }

    /// Has a product be again what the files say, and be no more where they do not have it.
    ///
    /// - Throws: `CatalogError` where that does not fit the others.
    public mutating func revert(_ productIdentifier: String, to files: Catalog) throws(CatalogError) {
        let identifier = ByteKey(productIdentifier)
        benefits[identifier] = nil
        if case .item(let item) = files.benefits[identifier], claimedItems.contains(item) {
            throw CatalogError(file: productIdentifier, key: "number", reason: "\(item) is given twice")
        }
        benefits[identifier] = files.benefits[identifier]
    }

    /// What is given for good, by whatever.
    private var claimedItems: Set<Item> {
        var items = Set(ownedByEverybody)
        for case .item(let item) in benefits.values { items.insert(item) }
        return items
    }

    /// As the files have it, or whoever has defined it since; nil for a product that is not there.
    public func definition(of productIdentifier: String) -> JSONObject? { definitions[ByteKey(productIdentifier)] }

    /// Whether a product is no longer for sale.
    public func isWithdrawn(_ productIdentifier: String) -> Bool { withdrawn.contains(ByteKey(productIdentifier)) }

    /// Whether a product differs from what the files say.
    public func isAdministered(_ productIdentifier: String) -> Bool {
        administered.contains(ByteKey(productIdentifier))
    }

    public var storefront: Storefront { configuration.storefront }

    public func product(_ productIdentifier: String) -> Product? {
        places[ByteKey(productIdentifier)].map { products[$0] }
    }

    /// What buying a product is good for; nil for one that is not in the catalog.
    public func benefit(of productIdentifier: String) -> Benefit? {
        benefits[ByteKey(productIdentifier)]
    }

    /// The product that grants an item; nil for one that is free or unknown.
    public func product(granting item: Item) -> Product? {
        products.first { benefit(of: $0.productIdentifier)?.item == item }
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
