import AppStore
import ArgumentParser
import Proofs

struct Buy: Command {
    static let configuration = CommandConfiguration(
        "buy", "Play the app: buy a product, redeem the proof, finish the transaction.",
        "The app first completes unfinished transactions of earlier launches, as `till resume` does.",
        examples: """
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

    @Option(help: ArgumentHelp(BillingPlanType.optionHelp, valueName: "plan"))
    var billingPlan: BillingPlanType?

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
        let reporter = StepReporter(terminal: terminal, fatalStep: killAfter) { number in
            try? store.read { try $0.effect(of: number)?.words }
        }
        let payment = Payment(productIdentifier: productIdentifier, billingPlanType: billingPlan)
        let (transaction, owned) = try await parties.withDevice(
            of: user, outcome: outcome, proof: proof, report: reporter.report
        ) { device, service in
            try await device.resume()
            return (try await device.buy(payment), try await service.possessions())
        }
        try end(transaction, owned: owned, reporter: reporter, parties: parties)
    }

    private func end(
        _ transaction: PaymentTransaction, owned: Possessions, reporter: StepReporter, parties: Parties
    ) throws {
        if transaction.state == .deferred { terminal.deferred(transaction, common: common) }
        terminal.owned(parties.catalog.named(owned.items.map(\.item)), owned.balances, by: parties.named(user))
        for (number, refusal) in reporter.refused where number != transaction.identifier {
            terminal.note("Transaction \(number), from before, stays in the queue: \(refusal.message)")
        }
        if let error = transaction.error {
            let isInterrupted = try parties.store.read { try $0.queued(transaction.identifier).isInterrupted }
            try terminal.fail(
                code: isInterrupted ? "interrupted" : error.name,
                message: Terminal.failure(error, of: transaction, isInterrupted: isInterrupted, common: common))
        }
        if let refusal = reporter.refused[transaction.identifier] { throw refusal }
        try terminal.report([
            "transaction": transaction.report(user: user.name), "items": owned.items, "balances": owned.balances,
        ])
    }
}

/// The options of a command that launches a user's app.
struct AppOptions: ParsableArguments {
    @Option(help: "The user of the app.")
    var user: User

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions
}

/// `till resume` and `till restore`
protocol AppLaunch: Command {
    var app: AppOptions { get }
}

extension AppLaunch {
    var common: CommonOptions { app.common }

    func parties() async throws -> Parties { try await Parties(common.dataDirectory, server: app.service) }

    /// Delivers unfinished transactions and prints the result.
    func deliver(_ parties: Parties) async throws {
        let user = app.user
        let reporter = StepReporter(terminal: terminal)
        let (delivered, owned) = try await parties.withDevice(of: user, report: reporter.report) { device, service in
            (try await device.resume(), try await service.possessions())
        }
        let waiting = try parties.store.read { try $0.payments.transactions(account: user.name) }
            .filter { $0.transaction.state == .deferred }
        for queued in waiting {
            let number = String(queued.transaction.identifier)
            terminal.line("#\(number) waits for approval: \(common.hint("store", "approve", number))")
        }
        if delivered.isEmpty, waiting.isEmpty { terminal.line("Nothing was unfinished.") }
        terminal.owned(parties.catalog.named(owned.items.map(\.item)), owned.balances, by: parties.named(user))
        try terminal.report([
            "delivered": delivered.map { $0.report(user: user.name) },
            // The error codes of refused transactions, by number.
            "refused": Dictionary(uniqueKeysWithValues: reporter.refused.map { (String($0), $1.code) }),
            "items": owned.items, "balances": owned.balances,
        ])
        guard let (number, refusal) = reporter.refused.min(by: { $0.key < $1.key }) else { return }
        try terminal.end("Transaction \(number) stays in the queue: \(refusal.message)")
    }
}

struct Restore: AppLaunch {
    static let configuration = CommandConfiguration(
        "restore", "Restore earlier purchases, as on a new device, and redeem them again.",
        examples: "till restore --user alice")

    @OptionGroup var app: AppOptions

    func perform() async throws {
        let parties = try await parties()
        try parties.store.write { try $0.restoreCompletedTransactions(account: app.user.name) }
        try await deliver(parties)
    }
}

struct Resume: AppLaunch {
    static let configuration = CommandConfiguration(
        "resume", "Launch the app again. It redeems and finishes all unfinished transactions.",
        examples: "till resume --user alice")

    @OptionGroup var app: AppOptions

    func perform() async throws { try await deliver(try await parties()) }
}
