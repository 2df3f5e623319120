import ArgumentParser
import Catalog
import HTTPSupport
import Proofs

/// `till store products`
struct StoreProducts: Command {
    static let configuration = CommandConfiguration(
        commandName: "products",
        abstract: "List the products that the store sells, or those of a StoreKit configuration.",
        discussion: """
            Examples:
              till store products
              till store products --products Garden.storekit
            """)

    @Option(
        name: .customLong("products"),
        help: ArgumentHelp("A StoreKit configuration of Xcode to list instead.", valueName: "file"))
    var configurationFile: String?

    @Option(help: "The language of the texts, such as ko (default: en, or else the configuration's first).")
    var locale: String?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let data = common.dataDirectory
        let configuration =
            if let configurationFile {
                try StoreKitConfiguration(file: configurationFile)
            } else {
                try StoreApp(storeFolder: data.storeFolder, catalogFolder: data.catalogFolder).configuration
            }
        let rows = try [ProductResource](configuration.products, in: nil, locale: locale)
        var table = TextTable(header: ["TYPE", "NAME", "PRICE", "IDENTIFIER"])
        for row in rows { table.add([row.type, row.displayName, row.priceWithPeriod, row.productId]) }
        table.lines.forEach(terminal.line)
        try terminal.json(List(rows))
    }
}
