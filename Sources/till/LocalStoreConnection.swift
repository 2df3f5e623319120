import AppStore
import ArgumentParser
import Proofs

/// The proof that the app sends to the service.
enum ProofChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
    case receipt
    case transaction
}

/// A device's connection to the store in the same process: the payment queue of one account.
struct LocalStoreConnection: StoreConnection {
    let store: Store
    let account: String
    /// The outcome of this device's payments.
    let outcome: PaymentOutcome
    let proof: ProofChoice

    func add(_ payment: Payment) async throws -> PaymentTransaction {
        try store.add(payment, account: account, outcome: outcome)
    }

    func processPayments() async throws {
        _ = try store.process(account: account)
    }

    func transaction(_ identifier: Int64) async throws -> PaymentTransaction {
        try store.transaction(identifier, account: account)
    }

    func unfinishedTransactions() async throws -> [PaymentTransaction] {
        try store.transactions(account: account).map(\.transaction).filter { $0.state != .finished }
    }

    func proof(of transaction: PaymentTransaction) async throws -> Proof {
        switch proof {
        case .receipt: .receipt(try store.receipt(account: account))
        case .transaction: .signedTransaction(try store.signedTransaction(transaction.identifier))
        }
    }

    func finish(_ transaction: PaymentTransaction) async throws {
        _ = try store.finish(transaction.identifier, account: account)
    }
}
