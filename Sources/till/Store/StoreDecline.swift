import AppStore
import ArgumentParser
import Proofs

/// `till store decline`
struct StoreDecline: Command {
    static let configuration = CommandConfiguration(
        commandName: "decline", abstract: "Decline a deferred purchase.",
        discussion: """
            Example:
              till store decline 3
            """)

    @Argument(help: "The transaction's number; `till store queue` lists them.")
    var id: Int64

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let queued = try common.directoryOfStore.store().decline(id)
        try terminal.decided(queued, common: common)
    }
}

extension Terminal {
    /// Prints the result of a decision on a deferred purchase, and the command that relaunches the app.
    func decided(_ queued: QueuedTransaction, common: CommonOptions) throws {
        let transaction = queued.transaction
        let reason = transaction.error.map { " (\($0.name))" } ?? ""
        line("Transaction \(transaction.identifier) is \(transaction.state.rawValue)\(reason).")
        line("The app gets the result at its next launch: \(common.hint("resume", "--user", queued.account))")
        try json(TransactionReport(transaction, user: queued.account))
    }
}
