import ArgumentParser
import Commerce
import Store

/// `till approve`
struct Approve: Command {
    static let configuration = CommandConfiguration(
        abstract: "Approve a purchase that was deferred, as a parent does.",
        discussion: """
            Example:
              till approve 3
            """)

    @Argument(help: "The transaction's number, as till queue shows it.")
    var id: Int64

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        try console.decided(try Parties(common.dataDirectory).store.approve(id))
    }
}

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
        try console.decided(try Parties(common.dataDirectory).store.decline(id))
    }
}

extension Console {
    /// Tells what a decision on a deferred purchase led to, and how the app comes to know.
    fileprivate func decided(_ queued: QueuedTransaction) throws {
        let transaction = queued.transaction
        line("Transaction \(transaction.identifier) is \(transaction.state.rawValue).")
        line("The app hears of it at its next launch: till resume --user \(queued.account)")
        try json(TransactionReport(transaction, user: queued.account))
    }
}
