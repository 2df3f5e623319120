import Commerce

extension Product {
    /// The texts in a language, such as `ko` or `en`; those of the first localization when there are none in it.
    ///
    /// - Returns: nil for a product without any.
    public func localization(language: String) -> Localization? {
        let wanted = language.prefix { $0 != "_" && $0 != "-" }.lowercased()
        return localizations.first { $0.language.lowercased() == wanted } ?? localizations.first
    }
}

extension Catalog {
    /// The languages of the products' texts.
    public var languages: [String] { products.languages }
}

extension [Product] {
    /// The languages in which products have texts, such as `en`; the first product's first language comes first, since texts
    /// are shown in it where the wanted one is missing.
    public var languages: [String] {
        var languages: [String] = []
        for localization in flatMap(\.localizations) {
            let language = localization.language.lowercased()
            if !languages.contains(language) { languages.append(language) }
        }
        return languages
    }
}
