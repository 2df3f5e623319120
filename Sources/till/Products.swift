import ArgumentParser
import Catalog
import Commerce

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
        let languages = Set(catalog.products.flatMap(\.localizations).map { String($0.language) })
        guard languages.contains(locale) else {
            throw ValidationError(
                "There are no texts in \"\(locale)\": choose one of \(languages.sorted().joined(separator: ", ")).")
        }
        let rows = catalog.products
            .map { ProductReport($0, item: catalog.item(for: $0.productIdentifier), language: locale) }
            .filter { collection == nil || $0.item?.collection == collection }
        var table = TextTable(header: ["ITEM", "NAME", "PRICE", "IDENTIFIER"])
        for row in rows {
            table.add([row.item?.description ?? "-", row.displayName, row.displayPrice, row.productId])
        }
        table.lines.forEach(console.line)
        try console.json(["products": rows])
    }
}

/// A product as `till products` shows it.
private struct ProductReport: Encodable {
    let productId: String
    let type: String
    let item: Item?
    let displayName: String
    let description: String
    /// Milliunits of the currency.
    let price: Int64
    let currency: String
    let displayPrice: String

    init(_ product: Product, item: Item?, language: String) {
        let localization = product.localization(language: language)
        productId = product.productIdentifier
        type = product.type.rawValue
        self.item = item
        displayName = localization?.displayName ?? product.productIdentifier
        description = localization?.description ?? ""
        price = product.price.milliunits
        currency = product.price.currency
        displayPrice = product.price.formatted
    }
}
