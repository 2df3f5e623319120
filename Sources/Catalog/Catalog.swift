import Foundation
import Proofs
import Vocabulary

/// The products of one app, and the item that each purchase grants.
package struct Catalog: Sendable {
    /// The name of the `.storekit` file in a catalog's folder.
    package static let configurationFile = "Till.storekit"
    /// The name of the file that maps products to items.
    package static let itemsFile = "Items.json"

    package let bundleIdentifier: String
    /// The StoreKit configuration: products and storefront.
    package let configuration: StoreKitConfiguration
    /// The free items, in order. Every user owns them.
    package let ownedByEverybody: [Item]
    /// The pictures of items; an item may have none.
    package private(set) var pictures: [Item: Picture]
    /// All products, withdrawn ones too: in the order of the `.storekit` file, then in the order of their creation.
    package private(set) var products: [Product]
    /// The identifiers of products that are no longer for sale. Earlier purchases of them stay valid.
    package private(set) var withdrawn: Set<ByteKey> = []
    /// The identifiers of products that differ from the files.
    package private(set) var administered: Set<ByteKey> = []
    /// The index of each product in `products`.
    private var places: [ByteKey: Int]
    private var benefits: [ByteKey: Benefit]
    private var definitions: [ByteKey: JSONObject]
    /// The rules about refunds; nil if the folder has none.
    package let refundRules: RefundRules?
    /// The rules about messages to customers who may cancel; nil if the folder has none.
    package let retentionRules: RetentionRules?
    /// The rates of the operator; nil if the folder has none.
    package let exchangeRates: ExchangeRates?
    var offeringMap: OfferingMap
    /// The rights and offerings that differ from the files.
    var offeringChanges = OfferingMap()

    /// Loads a catalog from its folder.
    ///
    /// - Throws: `CatalogError` for the first error in the files, such as a missing file, a key of another type, a repeated
    ///   identifier, an invalid price or a picture without an item.
    package init(folder: URL) throws(CatalogError) {
        try self.init(
            try StoreKitConfiguration(
                file: folder.appending(path: Self.configurationFile, directoryHint: .notDirectory).path),
            items: try CatalogReader(contentsOf: folder.appending(path: Self.itemsFile, directoryHint: .notDirectory)),
            pictures: try Picture.files(in: folder), refundRules: try RefundRules(folder: folder),
            retentionRules: try RetentionRules(folder: folder), exchangeRates: try ExchangeRates(folder: folder),
            offerings: try Self.offerings(in: folder))
    }

    /// Reads a catalog from the bytes of its files.
    ///
    /// - Parameters:
    ///   - pictures: The pictures by the names of their files.
    ///   - name: The name of the catalog in error messages.
    /// - Throws: `CatalogError`, as for a folder.
    package init(
        storeKit: [UInt8], items: [UInt8], pictures: [(name: String, bytes: [UInt8])], named name: String
    ) throws(CatalogError) {
        try self.init(
            try StoreKitConfiguration(json: storeKit, file: name),
            items: try CatalogReader(file: name, json: items),
            pictures: pictures.map { name, bytes in
                Picture.File(name: name, path: name) { () throws(CatalogError) in bytes }
            },
            refundRules: nil, retentionRules: nil, exchangeRates: nil, offerings: OfferingMap())
    }

    private init(
        _ configuration: StoreKitConfiguration, items: CatalogReader,
        pictures files: [Picture.File], refundRules: RefundRules?, retentionRules: RetentionRules?,
        exchangeRates: ExchangeRates?, offerings: OfferingMap
    ) throws(CatalogError) {
        self.configuration = configuration
        let map = try ItemMap(items, products: configuration.products)
        products = configuration.products
        places = Dictionary(uniqueKeysWithValues: zip(products.map { ByteKey($0.productIdentifier) }, products.indices))
        definitions = configuration.entries.reduce(into: [:]) {
            $0[ByteKey($1.key)] = ProductDefinition.merged($1.value, map.entries[$1.key])
        }
        bundleIdentifier = map.bundleIdentifier
        ownedByEverybody = map.ownedByEverybody
        benefits = Dictionary(uniqueKeysWithValues: map.benefits.map { (ByteKey($0.key), $0.value) })
        pictures = try Picture.all(files, of: ownedByEverybody + benefits.values.compactMap(\.item))
        self.refundRules = refundRules
        self.retentionRules = retentionRules
        self.exchangeRates = exchangeRates
        offeringMap = offerings
        try checkOfferings()
        try refundRules?.check(in: self)
        try retentionRules?.check(in: self)
    }

    /// Applies the administered changes. They take precedence over the files.
    ///
    /// - Parameters:
    /// - definitions: The definitions, one for each product, in the order of their creation.
    /// - withdrawn: The withdrawn products, including some that the files no longer have.
    /// - pictures: The pictures of items, including unknown items.
    /// - Throws: `CatalogError` for a definition that conflicts with the others, such as an item that is granted twice.
    package mutating func administer(
        _ definitions: [ProductDefinition],
        withdrawn: Set<String>,
        pictures: [Item: Picture],
        offerings: OfferingMap = OfferingMap()
    ) throws(CatalogError) {
        for definition in definitions { benefits[ByteKey(definition.product.productIdentifier)] = nil }
        var claimed = claimedItems
        for definition in definitions { try define(definition, claimed: &claimed) }
        self.withdrawn = Set(withdrawn.map { ByteKey($0) }).intersection(benefits.keys)
        self.pictures.merge(pictures) { $1 }
        apply(offerings)
        try checkOfferings()
    }

    /// Creates or changes a product.
    ///
    /// - Throws: `CatalogError` for a definition that conflicts with the others; then nothing changes.
    package mutating func define(_ definition: ProductDefinition) throws(CatalogError) {
        var changed = self
        changed.benefits[ByteKey(definition.product.productIdentifier)] = nil
        var claimed = changed.claimedItems
        try changed.define(definition, claimed: &claimed)
        try changed.checkOfferings(after: definition.product.productIdentifier)
        self = changed
    }

    private mutating func define(_ definition: ProductDefinition, claimed: inout Set<Item>) throws(CatalogError) {
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

    /// Restores the files' benefit of a product, or removes the benefit if the files have none.
    mutating func revert(_ productIdentifier: String, to files: Catalog) throws(CatalogError) {
        let identifier = ByteKey(productIdentifier)
        benefits[identifier] = nil
        if case .item(let item) = files.benefits[identifier], claimedItems.contains(item) {
            throw CatalogError(file: productIdentifier, key: "number", reason: "\(item) is given twice")
        }
        benefits[identifier] = files.benefits[identifier]
        try checkOfferings(after: productIdentifier)
    }

    /// The items that some product or the files grant permanently.
    private var claimedItems: Set<Item> {
        var items = Set(ownedByEverybody)
        for case .item(let item) in benefits.values { items.insert(item) }
        return items
    }

    /// The present definition of a product; nil for an unknown product.
    package func definition(of productIdentifier: String) -> JSONObject? { definitions[ByteKey(productIdentifier)] }

    /// True if a product is no longer for sale.
    package func isWithdrawn(_ productIdentifier: String) -> Bool { withdrawn.contains(ByteKey(productIdentifier)) }

    /// True if a product differs from the files.
    package func isAdministered(_ productIdentifier: String) -> Bool {
        administered.contains(ByteKey(productIdentifier))
    }

    package var storefront: Storefront { configuration.storefront }

    package func product(_ productIdentifier: String) -> Product? {
        places[ByteKey(productIdentifier)].map { products[$0] }
    }

    /// The benefit of a product; nil for an unknown product.
    package func benefit(of productIdentifier: String) -> Benefit? {
        benefits[ByteKey(productIdentifier)]
    }

    /// The period for which Google Play rents a product that is for sale there in no other way; nil for another product.
    package func rentalPeriod(of productIdentifier: String) -> RentalPeriod? {
        guard case .item = benefit(of: productIdentifier),
            case .string(let period) = definition(of: productIdentifier)?[ItemMap.rentalPeriod]
        else { return nil }
        return RentalPeriod(period)
    }

    /// The items that products grant, in no order.
    var grantedItems: [Item] { benefits.values.compactMap(\.item) }

    /// The product that grants an item; nil for a free or unknown item.
    package func product(granting item: Item) -> Product? {
        products.first { benefit(of: $0.productIdentifier)?.item == item }
    }

    /// The names of all collections, in order.
    package var collections: [String] {
        Set(benefits.values.compactMap(\.item?.collection) + ownedByEverybody.map(\.collection)).sorted()
    }

    /// The names of all balances, in order.
    package var balances: [String] {
        let names = benefits.values.compactMap { benefit in
            if case .credit(let credit) = benefit { credit.balance } else { nil }
        }
        return Set(names).sorted()
    }
}

/// The catalogs of a service's apps at one moment.
package struct Catalogs: Sendable {
    /// The catalogs, in the order of the configuration.
    package let all: [Catalog]

    /// The catalog of an app; nil if the service does not have the app.
    package subscript(bundleIdentifier: String) -> Catalog? {
        all.first { $0.bundleIdentifier.hasSameBytes(as: bundleIdentifier) }
    }

    /// The free items, in order. Every user owns them.
    package var ownedByEverybody: [Item] { merged(\.ownedByEverybody) }

    /// The rates of the first app that has some.
    package var exchangeRates: ExchangeRates? { all.lazy.compactMap(\.exchangeRates).first }

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
