import Proofs

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
