import ArgumentParser
import Commerce
import Device
import Store

/// The form in which the app reads its proof.
enum ProofForm: String, CaseIterable, ExpressibleByArgument, Sendable {
    case receipt
    case transaction
}

/// A device's line to the store in the same process: one account's queue.
struct LocalStoreConnection: StoreConnection {
    let store: Store
    let account: String
    /// How the store shall let this device's payments end.
    let outcome: PaymentOutcome
    let proofForm: ProofForm

    func add(_ payment: Payment) async throws -> PaymentTransaction {
        try store.add(payment, account: account, outcome: outcome)
    }

    func updatedTransactions() async throws -> [PaymentTransaction] {
        try store.process(account: account)
    }

    func unfinishedTransactions() async throws -> [PaymentTransaction] {
        try store.transactions(account: account).map(\.transaction).filter { $0.state != .finished }
    }

    func proof(of transaction: PaymentTransaction) async throws -> Proof {
        switch proofForm {
        case .receipt: .receipt(try store.receipt(account: account))
        case .transaction: .signedTransaction(try store.signedTransaction(transaction.identifier))
        }
    }

    func finish(_ transaction: PaymentTransaction) async throws {
        _ = try store.finish(transaction.identifier, account: account)
    }
}
