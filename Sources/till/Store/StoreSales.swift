import AppStore
import ArgumentParser
import HTTPSupport
import Proofs
import Service

/// `till store sales`
struct StoreSales: Command {
    static let configuration = CommandConfiguration(
        commandName: "sales", abstract: "List the sales to a customer: each purchase and each subscription period.",
        discussion: """
            Example:
              till store sales alice
            """)

    @Argument(help: "The customer.")
    var account: String

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let sold = try common.directoryOfStore.store().history(of: account)
        if sold.isEmpty { terminal.line("No sales to account \"\(account)\".") }
        var table = TextTable(header: ["TRANSACTION", "PRODUCT", "PRICE", "PURCHASED", "EXPIRES", ""])
        for sale in sold {
            table.add([
                sale.transactionIdentifier, sale.productIdentifier, sale.price.formatted, sale.purchaseDate.rfc3339,
                sale.expiresDate?.rfc3339 ?? "-",
                sale.revocation != nil ? "taken back" : sale.isUpgraded ? "upgraded" : "",
            ])
        }
        if !sold.isEmpty { table.lines.forEach(terminal.line) }
        try terminal.json(List(sold.map { SaleResource($0) }))
    }
}
