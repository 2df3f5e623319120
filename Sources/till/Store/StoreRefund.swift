import AppStore
import ArgumentParser
import HTTPSupport
import Service

/// `till store refund`
struct StoreRefund: Command {
    /// A step of a refund.
    enum Step: String, CaseIterable, ExpressibleByArgument {
        case grant
        case request
        case decline
        case reverse
    }

    static let configuration = CommandConfiguration(
        commandName: "refund", abstract: "Refund a sale, or play another step: a request, a decline or a reversal.",
        discussion: """
            Examples:
              till store refund 2000000123456789
              till store refund 2000000123456789 --step request
              till store refund 2000000123456789 --step reverse
            """)

    @Argument(help: ArgumentHelp("The transaction's identifier.", valueName: "transaction"))
    var transactionIdentifier: String

    @Option(help: "grant, request, decline or reverse.")
    var step = Step.grant

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let store = try common.directoryOfStore.store()
        switch step {
        case .grant: try store.refund(transactionIdentifier)
        case .request: try store.requestRefund(of: transactionIdentifier)
        case .decline: try store.declineRefund(of: transactionIdentifier)
        case .reverse: try store.reverseRefund(of: transactionIdentifier)
        }
        let done =
            switch step {
            case .grant: "refunded"
            case .request: "refund asked for"
            case .decline: "refund declined"
            case .reverse: "refund reversed"
            }
        terminal.line("\(transactionIdentifier)  \(done)")
        try terminal.json(SaleResource(try store.sale(transactionIdentifier)))
    }
}
