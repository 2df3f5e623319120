import Proofs

/// The keys that all products of a `.storekit` file have.
extension CatalogReader {
    func product(type: ProductType, subscription: Subscription? = nil) throws(CatalogError) -> Product {
        Product(
            productIdentifier: try required("productID").string(), type: type,
            referenceName: try optional("referenceName")?.text() ?? "", price: try required("displayPrice").price(),
            isFamilyShareable: try optional("familyShareable")?.bool() ?? false, localizations: try localizations(),
            subscription: subscription)
    }

    /// - Throws: `CatalogError` for an unknown type, or a type that belongs to another list.
    func productType(among types: [ProductType]) throws(CatalogError) -> ProductType {
        let type = try required("type")
        let name = try type.string()
        guard let known = types.first(where: { $0.configurationName == name }) else {
            throw type.failure("it is none of \(types.map(\.configurationName).joined(separator: ", "))")
        }
        return known
    }

    func price() throws(CatalogError) -> Price {
        guard let price = Price(majorUnits: try string(), currency: currency) else {
            throw failure("it is no price; write \"1200\" or \"0.99\"")
        }
        return price
    }

    func period() throws(CatalogError) -> SubscriptionPeriod {
        guard let period = SubscriptionPeriod(try string()) else {
            throw failure("it is not a period; write P1W, P1M or P1Y")
        }
        return period
    }

    /// A product that Xcode has just created has a localization without texts.
    private func localizations() throws(CatalogError) -> [Product.Localization] {
        var localizations: [Product.Localization] = []
        for element in try optional("localizations")?.elements() ?? [] {
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

extension Product {
    /// The texts in a language, such as `ko` or `en`. If the language has none, the first localization.
    ///
    /// - Returns: Nil for a product without texts.
    package func localization(language: String) -> Localization? {
        let wanted = language.prefix { $0 != "_" && $0 != "-" }.lowercased()
        return localizations.first { $0.language.lowercased() == wanted } ?? localizations.first
    }
}

extension Catalog {
    /// The languages of the products' texts.
    package var languages: [String] { products.languages }
}

extension [Product] {
    /// The languages of the products' texts, such as `en`. The first product's first language comes first, because it replaces
    /// a missing one.
    package var languages: [String] {
        var languages: [String] = []
        for localization in flatMap(\.localizations) {
            let language = localization.language.lowercased()
            if !languages.contains(language) { languages.append(language) }
        }
        return languages
    }
}

extension ProductType {
    /// The name of the type in `.storekit` files and definitions.
    package var configurationName: String {
        switch self {
        case .consumable: "Consumable"
        case .nonConsumable: "NonConsumable"
        case .nonRenewingSubscription: "NonRenewingSubscription"
        case .autoRenewableSubscription: "RecurringSubscription"
        }
    }
}
