import Commerce
import Device
import Store
import TestSupport
import Wire

/// The power goes, or the app is killed.
struct Crash: Error {}

/// No answer came: nobody knows whether the request did.
struct NoAnswer: Error {}

/// A device's line to the store. The app may be killed before and after whatever it asks for.
struct SimulatedStoreLine: StoreConnection {
    let store: Store
    let account: String
    let outcome: PaymentOutcome
    /// Whether the app hands in its receipt, or else the signed transaction.
    let sendsReceipt: Bool
    let dice: Dice
    /// Of a hundred moments.
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

/// A device's line to the service, over a network that loses, doubles and delays.
struct SimulatedServiceLine: ServiceConnection {
    let simulation: Simulation
    let user: User

    func redeem(_ proof: Proof) async throws -> Redemption {
        try await simulation.send(proof, for: user)
    }

    func items() async throws -> [OwnedItemResource] { [] }
}
