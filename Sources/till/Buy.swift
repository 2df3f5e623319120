import AppStore
import ArgumentParser
import Proofs

/// `till buy`
struct Buy: Command {
    static let configuration = CommandConfiguration(
        abstract: "Play the app: buy a product, redeem the proof, finish the transaction.",
        discussion: """
            The app first completes unfinished transactions of earlier launches, as till resume does.

            Examples:
              till buy com.memolease.sesac1.sprout1 --user alice
              till buy com.memolease.sesac1.background2 --user alice --outcome cancelled
              till buy com.memolease.sesac1.sprout4 --user alice --outcome deferred
              till buy com.memolease.sesac1.sprout2 --user alice --kill-after purchased
            """)

    @Argument(help: ArgumentHelp("The product's identifier.", valueName: "product"))
    var productIdentifier: String

    @Option(help: "The user who buys: a name of 1 to 128 bytes, without spaces or control characters.")
    var user: User

    @Option(
        help: ArgumentHelp(
            "The outcome of the payment: purchased, deferred, cancelled, notAllowed, notAvailable, or an SKError by name.",
            valueName: "outcome"))
    var outcome = PaymentOutcome.purchased

    @Option(help: "The proof that the app sends: the app receipt, or the signed transaction.")
    var proof = ProofChoice.receipt

    @Option(
        help: ArgumentHelp(
            "Kill the app after this step: \(StepReporter.stepNames.joined(separator: ", ")).", valueName: "step"))
    var killAfter: String?

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let killAfter, !StepReporter.stepNames.contains(killAfter) {
            throw ValidationError(
                "Unknown step \"\(killAfter.prefix(64))\". The steps are \(StepReporter.stepNames.joined(separator: ", "))."
            )
        }
    }

    func perform() async throws {
        let parties = try await Parties(common.dataDirectory, server: service)
        guard parties.catalog.product(productIdentifier) != nil else {
            throw StoreError.productNotFound(productIdentifier)
        }
        let store = parties.store
        let reporter = StepReporter(terminal: terminal, fatalStep: killAfter) { try? store.effect(of: $0)?.words }
        let payment = Payment(productIdentifier: productIdentifier)
        let (transaction, items) = try await parties.withDevice(
            of: user, outcome: outcome, proof: proof, report: reporter.report
        ) { device, service in
            try await device.resume()
            return (try await device.buy(payment), try await service.items())
        }
        try end(transaction, items: items, reporter: reporter, parties: parties)
    }

    private func end(
        _ transaction: PaymentTransaction,
        items: [OwnedItemResource],
        reporter: StepReporter,
        parties: Parties
    ) throws {
        if transaction.state == .deferred { terminal.deferred(transaction, common: common) }
        terminal.owned(items.map(\.item), by: parties.named(user), names: parties.catalog.name(of:))
        for (number, refusal) in reporter.refused where number != transaction.identifier {
            terminal.note("Transaction \(number), from before, stays in the queue: \(refusal.message)")
        }
        if let error = transaction.error {
            let isInterrupted = try parties.store.isInterrupted(transaction.identifier)
            try terminal.fail(
                code: isInterrupted ? "interrupted" : error.name,
                message: Terminal.failure(error, of: transaction, isInterrupted: isInterrupted, common: common))
        }
        if let refusal = reporter.refused[transaction.identifier] { throw refusal }
        struct Report: Encodable {
            let transaction: TransactionReport
            let items: [OwnedItemResource]
        }
        try terminal.json(Report(transaction: TransactionReport(transaction, user: user.name), items: items))
    }
}
