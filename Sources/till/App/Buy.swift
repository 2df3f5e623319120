import AppStore
import ArgumentParser
import HTTPSupport
import Proofs
import Vocabulary

struct Buy: Command, NamesUser {
    static let configuration = CommandConfiguration(
        "buy", "Play the app: buy a product, redeem the proof, finish the transaction.",
        "The app first completes unfinished transactions of earlier launches, as `till resume` does.",
        examples: """
            till buy com.memolease.sesac1.sprout1 --user alice
            till buy com.memolease.sesac1.background2 --user alice --outcome cancelled
            till buy com.memolease.sesac1.sprout4 --user alice --outcome deferred
            till buy com.memolease.sesac1.sprout2 --user alice --kill-after purchased
            till buy com.memolease.sesac1.sprout3 --user alice --store play_store
            till buy com.memolease.sesac1.sprout1 bob --store play_store --proof token
            """)

    @Argument(help: .value("product", "The product's identifier."))
    var productIdentifier: String

    @OptionGroup var subject: UserArgument

    @Option(help: StoreChoice.optionHelp)
    var store = StoreChoice.appStore

    @Option(
        help: .value(
            "outcome",
            "The outcome (of the payment: purchased, deferred, cancelled, notAllowed, notAvailable, or an SKError by name; at Google Play purchased or deferred)."
        ))
    var outcome = PaymentOutcome.purchased

    @Option(help: .value("plan", BillingPlanType.optionHelp))
    var billingPlan: BillingPlanType?

    @Option(
        help: .value(
            "proof",
            "The proof that the app sends: receipt (the app receipt) or transaction (the signed one); at Google Play purchase (the signed one) or token (its purchase token)."
        ))
    var proof: ProofChoice?

    @Option(help: .value("step", "Kill the app after this step: \(StepReporter.stepNames.joined(separator: ", "))."))
    var killAfter: String?

    @OptionGroup var naming: UserNaming

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    static var positions: [String: ArgumentPosition] { ["--user": .last] }

    func validate() throws {
        try require(
            proof.map { $0.store == store } ?? true,
            "--proof \(proof?.rawValue ?? "") is of the other store. Change --proof or --store.")
        try require(
            store == .appStore || [.purchased, .deferred].contains(outcome),
            "--outcome \(outcome.name) is of the App Store. With --store play_store, choose purchased or deferred.")
        try require(
            store == .appStore || billingPlan == nil,
            "--billing-plan is for the App Store. With --store play_store, leave it out.")
        if let killAfter, !StepReporter.stepNames.contains(killAfter) {
            throw ValidationError(
                "Unknown step \"\(killAfter.prefix(64))\". The steps are \(StepReporter.stepNames.joined(separator: ", "))."
            )
        }
    }

    func perform() async throws {
        let parties = try await Parties(common.dataDirectory, server: service, store: store)
        guard parties.catalog.product(productIdentifier) != nil else {
            throw StoreError.productNotFound(productIdentifier)
        }
        let queue = parties.queue(of: user, outcome: outcome, proof: proof ?? .receipt)
        let reporter = StepReporter(terminal: terminal, fatalStep: killAfter) { queue.effect(of: $0) }
        let payment = Payment(productIdentifier: productIdentifier, billingPlanType: billingPlan)
        let (transaction, owned) = try await parties.withDevice(
            of: user, issuer: naming.issuer, at: queue, report: reporter.report
        ) { device, service in
            try await device.resume()
            return (try await device.buy(payment), try await service.possessions())
        }
        try end(transaction, at: queue, owned: owned, reporter: reporter, parties: parties)
    }

    private func end(
        _ transaction: PaymentTransaction, at queue: any DeviceQueue, owned: Possessions, reporter: StepReporter,
        parties: Parties
    ) throws {
        if transaction.state == .deferred { terminal.line("It " + queue.waitingWords(transaction, common: common)) }
        terminal.owned(parties.catalog.named(owned.items), owned.balances, by: parties.named(user))
        for (number, refusal) in reporter.refused where number != transaction.identifier {
            terminal.note("Transaction \(number), from before, stays in the queue: \(refusal.message)")
        }
        if let error = transaction.error {
            let isInterrupted = try queue.isInterrupted(transaction.identifier)
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
    @OptionGroup var subject: UserArgument

    @Option(help: StoreChoice.optionHelp)
    var store = StoreChoice.appStore

    @OptionGroup var naming: UserNaming

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    var user: User { subject.user }
}

/// `till resume` and `till restore`
protocol AppLaunch: Command, PositionedOptions {
    var app: AppOptions { get }
}

extension AppLaunch {
    static var positions: [String: ArgumentPosition] { ["--user": .first] }

    var common: CommonOptions { app.common }

    func parties() async throws -> Parties {
        try await Parties(common.dataDirectory, server: app.service, store: app.store)
    }

    /// Delivers unfinished transactions and prints the result.
    func deliver(_ queue: any DeviceQueue, _ parties: Parties) async throws {
        let user = app.user
        let reporter = StepReporter(terminal: terminal)
        let (delivered, owned) = try await parties.withDevice(
            of: user, issuer: app.naming.issuer, at: queue, report: reporter.report
        ) { device, service in
            (try await device.resume(), try await service.possessions())
        }
        let waiting = try await queue.unfinishedTransactions().filter { $0.state == .deferred }
        for transaction in waiting {
            terminal.line(
                "#\(transaction.identifier) " + queue.waitingWords(transaction, upTo: 1, common: common))
        }
        if delivered.isEmpty, waiting.isEmpty { terminal.line("Nothing was unfinished.") }
        terminal.owned(parties.catalog.named(owned.items), owned.balances, by: parties.named(user))
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
        examples: """
            till restore --user alice
            till restore --user alice --store play_store
            """)

    @OptionGroup var app: AppOptions

    func perform() async throws {
        let parties = try await parties()
        try await deliver(try parties.queue(of: app.user).restoring(), parties)
    }
}

struct Resume: AppLaunch {
    static let configuration = CommandConfiguration(
        "resume", "Launch the app again. It redeems and finishes all unfinished transactions.",
        examples: "till resume --user alice")

    @OptionGroup var app: AppOptions

    func perform() async throws {
        let parties = try await parties()
        try await deliver(parties.queue(of: app.user), parties)
    }
}
