import AppStore
import HTTPSupport
import Proofs
import TestSupport
import Vocabulary

/// A power failure, or the end of the app's process.
struct Crash: Error {}

/// A lost answer. The request may have arrived.
struct NoAnswer: Error {}

/// A device's connection to the store. The app may be killed before and after each request.
struct SimulatedStoreLine: StoreConnection {
    let store: Store
    let account: String
    let outcome: PaymentOutcome
    /// True if the app sends its receipt, false if it sends the signed transaction.
    let sendsReceipt: Bool
    let dice: Dice
    /// The number of crashes in a hundred moments.
    let crashes: Int

    func add(_ payment: Payment) async throws -> PaymentTransaction {
        try perilous { try store.add(payment, account: account, outcome: outcome) }
    }

    func processPayments() async throws {
        try perilous { _ = try store.process(account: account) }
    }

    func transaction(_ identifier: Int64) async throws -> PaymentTransaction {
        try perilous { try store.transaction(identifier, account: account) }
    }

    func unfinishedTransactions() async throws -> [PaymentTransaction] {
        try perilous { try store.transactions(account: account).map(\.transaction).filter { $0.state != .finished } }
    }

    func proof(of transaction: PaymentTransaction) async throws -> Proof {
        try perilous {
            if sendsReceipt { return .receipt(try store.receipt(account: account)) }
            return .signedTransaction(try store.signedTransaction(transaction.identifier))
        }
    }

    func finish(_ transaction: PaymentTransaction) async throws {
        try perilous { _ = try store.finish(transaction.identifier, account: account) }
    }

    private func perilous<Value>(_ body: () throws -> Value) throws -> Value {
        if dice.happens(crashes) { throw Crash() }
        let value = try body()
        if dice.happens(crashes) { throw Crash() }
        return value
    }
}

/// A device's connection to the service, over a network that loses, duplicates and delays messages.
struct SimulatedServiceLine: ServiceConnection {
    let simulation: Simulation
    /// The app that sends the proofs.
    let app: SimulatedApp
    let user: User

    func redeem(_ proof: Proof) async throws -> Redemption {
        try await simulation.send(proof, of: app, for: user)
    }
}
