import Catalog
import Features
import Proofs

/// The names of items and products in the catalogs.
struct CatalogNames {
    let catalogs: Catalogs

    /// The items of the catalogs and the free ones, in order.
    var items: [Item] {
        let granted = catalogs.all.flatMap { catalog in
            catalog.products.compactMap { catalog.benefit(of: $0.productIdentifier)?.item }
        }
        return Set(granted + catalogs.ownedByEverybody).sorted()
    }

    /// The name of a product; its identifier if the catalogs have no name.
    func product(_ identifier: String) -> Phrase {
        catalogs.product(identifier).flatMap(Self.name) ?? Phrase(same: identifier)
    }

    /// The item with the name of a product that grants it: "Mint Sprout (sprout 2)".
    func item(_ item: Item) -> Phrase {
        let product = catalogs.all.lazy.compactMap { $0.product(granting: item) }.first
        guard let name = product.flatMap(Self.name) else { return Phrase(same: item.description) }
        return Phrase("\(name.english) (\(item))", "\(name.korean) (\(item))")
    }

    private static func name(_ product: Product) -> Phrase? {
        let names = ConsoleLanguage.allCases.map { product.localization(language: $0.rawValue)?.displayName ?? "" }
        guard let english = names.first, let korean = names.last, !english.isEmpty, !korean.isEmpty else { return nil }
        return Phrase(english, korean)
    }

    /// The item's picture beside its name; nothing without a picture.
    func picture(_ item: Item) -> HTML? {
        guard catalogs.all.contains(where: { $0.pictures[item] != nil }) else { return nil }
        return img(
            .class("picture"), .src(ConsolePath("item-pictures", item.collection, String(item.number))),
            HTMLAttribute("alt", ""), HTMLAttribute("width", "56"), HTMLAttribute("height", "56"))
    }

    /// The products whose identifier or name contains a text, at most ten.
    func products(matching text: String) -> [Product] {
        let wanted = text.lowercased()
        guard (3...64).contains(wanted.utf8.count) else { return [] }
        var found: [Product] = []
        for product in catalogs.all.flatMap(\.products) where found.count < 10 {
            let texts = [product.productIdentifier] + product.localizations.map(\.displayName)
            let isKnown = found.contains { $0.productIdentifier.hasSameBytes(as: product.productIdentifier) }
            if !isKnown, texts.contains(where: { $0.lowercased().contains(wanted) }) { found.append(product) }
        }
        return found
    }
}
