import Proofs

/// Reads the keys that all products of a `.storekit` file have.
struct ProductReader {
    let entry: CatalogReader
    let currency: String

    func product(type: ProductType, subscription: Subscription? = nil) throws(CatalogError) -> Product {
        Product(
            productIdentifier: try entry.required("productID").string(), type: type,
            referenceName: try entry.optional("referenceName")?.text() ?? "",
            price: try Self.price(try entry.required("displayPrice"), currency: currency),
            isFamilyShareable: try entry.optional("familyShareable")?.bool() ?? false,
            localizations: try localizations(), subscription: subscription)
    }

    /// - Throws: `CatalogError` for an unknown type, or a type that belongs to another list.
    func type(among types: [ProductType]) throws(CatalogError) -> ProductType {
        let type = try entry.required("type")
        let name = try type.string()
        guard let known = types.first(where: { $0.configurationName == name }) else {
            throw type.failure("it is none of \(types.map(\.configurationName).joined(separator: ", "))")
        }
        return known
    }

    static func price(_ entry: CatalogReader, currency: String) throws(CatalogError) -> Price {
        guard let price = Price(majorUnits: try entry.string(), currency: currency) else {
            throw entry.failure("it is no price; write \"1200\" or \"0.99\"")
        }
        return price
    }

    /// A product that Xcode has just created has a localization without texts.
    private func localizations() throws(CatalogError) -> [Product.Localization] {
        var localizations: [Product.Localization] = []
        for element in try entry.optional("localizations")?.elements() ?? [] {
            // A localization that its author has not finished is for no language.
            guard let locale = try element.optionalString("locale") else { continue }
            let localization = Product.Localization(
                locale: locale,
                displayName: try element.optional("displayName")?.text() ?? "",
                description: try element.optional("description")?.text() ?? "")
            guard !localizations.contains(where: { $0.locale == localization.locale }) else {
                throw try element.required("locale").failure("\(localization.locale) is there twice")
            }
            localizations.append(localization)
        }
        return localizations
    }
}
