import ArgumentParser
import Commerce
import Store

/// `till decline`
struct Decline: Command {
    static let configuration = CommandConfiguration(
        abstract: "Decline a purchase that was deferred.",
        discussion: """
            Example:
              till decline 3
            """)

    @Argument(help: "The transaction's number, as till queue shows it.")
    var id: Int64

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let queued = try common.directoryOfStore.store().decline(id)
        try console.decided(queued, common: common)
    }
}

extension Console {
    /// Tells what a decision on a deferred purchase led to, and how the app comes to know.
    func decided(_ queued: QueuedTransaction, common: CommonOptions) throws {
        let transaction = queued.transaction
        let reason = transaction.error.map { " (\($0.name))" } ?? ""
        line("Transaction \(transaction.identifier) is \(transaction.state.rawValue)\(reason).")
        line("The app hears of it at its next launch: \(common.hint("resume", "--user", queued.account))")
        try json(TransactionReport(transaction, user: queued.account))
    }
}
