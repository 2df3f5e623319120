import ArgumentParser
import Catalog
import Commerce
import Server

/// `till products`
struct Products: Command {
    static let configuration = CommandConfiguration(
        abstract: "List what the store sells.",
        discussion: """
            Examples:
              till products
              till products --collection sprout --locale ko
            """)

    @Option(help: "Only the items of this collection: sprout or background.")
    var collection: String?

    @Option(help: "The language of the texts: ko or en.")
    var locale = "en"

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let catalog = try Catalog(folder: Installation.products)
        if let collection, !catalog.collections.contains(collection) {
            throw ValidationError(
                "There is no collection \"\(collection)\": choose one of \(catalog.collections.joined(separator: ", "))."
            )
        }
        let languages = catalog.languages
        guard languages.contains(locale) else {
            throw ValidationError(
                "There are no texts in \"\(locale)\": choose one of \(languages.sorted().joined(separator: ", ")).")
        }
        let rows = catalog.products
            .map { product in
                ProductResource(
                    product, item: catalog.item(for: product.productIdentifier),
                    localization: product.localization(language: locale))
            }
            .filter { collection == nil || $0.item?.collection == collection }
        var table = TextTable(header: ["ITEM", "NAME", "PRICE", "IDENTIFIER"])
        for row in rows {
            table.add([row.item?.description ?? "-", row.displayName, row.displayPrice, row.productId])
        }
        table.lines.forEach(console.line)
        try console.json(["products": rows])
    }
}
