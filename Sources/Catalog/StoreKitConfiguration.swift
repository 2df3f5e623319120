import Commerce
import StrictJSON

/// The products and the storefront of a `.storekit` file, the format of Xcode's StoreKit configurations.
package struct StoreKitConfiguration {
    let storefront: Storefront
    /// In the file's order.
    let products: [Product]

    /// - Parameters:
    ///   - json: The file's bytes.
    ///   - file: What to call the file in complaints.
    package init(json: [UInt8], file: String) throws(CatalogError) {
        try self.init(try CatalogReader(file: file, json: json))
    }

    init(_ root: CatalogReader) throws(CatalogError) {
        let countryCode = try root.optional("settings")?.optional("_storefront")
        guard let storefront = Storefront(countryCode: try countryCode?.string() ?? "USA") else {
            let known = Storefront.all.map(\.countryCode).joined(separator: ", ")
            throw (countryCode ?? root).failure("the storefront is none of \(known)")
        }
        self.storefront = storefront
        var products: [Product] = []
        var identifiers: Set<String> = []
        for entry in try root.required("products").elements() {
            let product = try Self.product(entry, currency: storefront.currency)
            guard identifiers.insert(product.productIdentifier).inserted else {
                throw try entry.required("productID").failure("\(product.productIdentifier) is there twice")
            }
            products.append(product)
        }
        self.products = products
    }

    private static func product(_ entry: CatalogReader, currency: String) throws(CatalogError) -> Product {
        let displayPrice = try entry.required("displayPrice")
        guard let price = Price(majorUnits: try displayPrice.string(), currency: currency) else {
            throw displayPrice.failure("it is no price; write \"1200\" or \"0.99\"")
        }
        let type = try entry.required("type")
        return Product(
            productIdentifier: try entry.required("productID").string(),
            type: try productType(type),
            price: price,
            isFamilyShareable: try entry.required("familyShareable").bool(),
            localizations: try localizations(try entry.required("localizations")))
    }

    private static func productType(_ entry: CatalogReader) throws(CatalogError) -> ProductType {
        switch try entry.string() {
        case "Consumable": .consumable
        case "NonConsumable": .nonConsumable
        case "NonRenewingSubscription": .nonRenewingSubscription
        default: throw entry.failure("it is none of Consumable, NonConsumable, NonRenewingSubscription")
        }
    }

    private static func localizations(_ entry: CatalogReader) throws(CatalogError) -> [Product.Localization] {
        let elements = try entry.elements()
        guard !elements.isEmpty else { throw entry.failure("there is no localization") }
        var localizations: [Product.Localization] = []
        for element in elements {
            let localization = Product.Localization(
                locale: try element.required("locale").string(),
                displayName: try element.required("displayName").string(),
                description: try element.required("description").string())
            guard !localizations.contains(where: { $0.locale == localization.locale }) else {
                throw try element.required("locale").failure("\(localization.locale) is there twice")
            }
            localizations.append(localization)
        }
        return localizations
    }
}
