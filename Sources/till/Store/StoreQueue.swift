import AppStore
import ArgumentParser
import Proofs

/// `till store queue`
struct StoreQueue: Command {
    static let configuration = CommandConfiguration(
        commandName: "queue", abstract: "List the transactions of the store's payment queue and their states.",
        discussion: """
            Example:
              till store queue --account alice
            """)

    @Option(help: "List only the transactions of this customer.")
    var account: String?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let store = try common.directoryOfStore.store()
        let transactions = try store.transactions(account: account)
        let reports = transactions.map { TransactionReport($0.transaction, user: $0.account) }
        var table = TextTable(header: ["ID", "ACCOUNT", "PRODUCT", "STATE", "TRANSACTION"])
        for report in reports {
            table.add([
                String(report.id), TextTable.shortened(report.user), report.productId,
                report.state.rawValue + (try reason(report, in: store).map { " (\($0))" } ?? ""),
                report.transactionId ?? "-",
            ])
        }
        if reports.isEmpty {
            terminal.line(account.map { "No payments of account \"\($0)\"." } ?? "No payments.")
        } else {
            table.lines.forEach(terminal.line)
        }
        try terminal.json(["transactions": reports])
    }

    /// The name of the SKError, or `interrupted` for a payment that `till store resolve` completes.
    private func reason(_ report: TransactionReport, in store: Store) throws -> String? {
        guard let error = report.error else { return nil }
        return try store.isInterrupted(report.id) ? "interrupted" : error
    }
}
