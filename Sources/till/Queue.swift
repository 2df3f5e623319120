import ArgumentParser
import Commerce

/// `till queue`
struct Queue: Command {
    static let configuration = CommandConfiguration(
        abstract: "List the transactions of the store's payment queue and their states.",
        discussion: """
            Example:
              till queue --user alice
            """)

    @Option(help: "Only this user's.")
    var user: User?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let transactions = try common.directoryOfStore.store().transactions(account: user?.name)
        let reports = transactions.map { TransactionReport($0.transaction, user: $0.account) }
        var table = TextTable(header: ["ID", "USER", "PRODUCT", "STATE", "TRANSACTION"])
        for report in reports {
            table.add([
                String(report.id), report.user, report.productId,
                report.state.rawValue + (report.error.map { " (\($0))" } ?? ""), report.transactionId ?? "-",
            ])
        }
        table.lines.forEach(console.line)
        try console.json(["transactions": reports])
    }
}
