import HTTPSupport
import Vocabulary

/// The app as an observer of its payment queue (StoreKit, `SKPaymentTransactionObserver`).
///
/// It redeems a purchase before it finishes the transaction, so that a crash loses nothing.
package struct PaymentQueueObserver: Sendable {
    private let store: any StoreConnection
    private let service: any ServiceConnection
    private let report: @Sendable (DeviceStep) -> Void

    /// - Parameter report: Called after each step is done and before the next begins.
    package init(
        store: any StoreConnection,
        service: any ServiceConnection,
        report: @escaping @Sendable (DeviceStep) -> Void = { _ in }
    ) {
        self.store = store
        self.service = service
        self.report = report
    }

    /// Buys, and handles the transaction until it is finished, deferred, or refused by the service.
    ///
    /// - Returns: The last state of the transaction in the store.
    package func buy(_ payment: Payment) async throws -> PaymentTransaction {
        let added = try await store.add(payment)
        report(.paymentAdded(added))
        try await store.processPayments()
        // Another launch of the app may have changed it meanwhile.
        try await observe(try await store.transaction(added.identifier))
        return try await store.transaction(added.identifier)
    }

    /// Handles every unfinished transaction, as an app does at its launch.
    ///
    /// - Returns: The transactions handled, without those that wait for approval.
    @discardableResult
    package func resume() async throws -> [PaymentTransaction] {
        // The store completes payments that were under way when the app died.
        try await store.processPayments()
        let delivered = try await store.unfinishedTransactions().filter(\.state.isAwaitingFinish)
        for transaction in delivered { try await observe(transaction) }
        return delivered
    }

    /// Handles one transaction that the queue shows. A refusal leaves it in the queue and does not stop the others.
    private func observe(_ transaction: PaymentTransaction) async throws {
        report(.updated(transaction))
        switch transaction.state {
        case .purchased, .restored:
            do {
                try await redeem(transaction)
            } catch let refusal as ServiceRefusal {
                // The proof no longer names the transaction if another launch of the app has finished it.
                guard try await store.transaction(transaction.identifier).state != .finished else { return }
                report(.refused(transaction, refusal))
                return
            }
            try await finish(transaction)
        case .failed:
            try await finish(transaction)
        case .purchasing, .deferred, .finished:
            break
        }
    }

    private func redeem(_ transaction: PaymentTransaction) async throws {
        let proof = try await store.proof(of: transaction)
        report(.proofObtained(transaction))
        let redemption = try await service.redeem(proof)
        let redeemed = redemption.transactions.first {
            // The service has a name of its own for a purchase of Google Play, and each of its proofs is of one purchase.
            proof.isOfGooglePlay
                ? $0.productId == transaction.payment.productIdentifier
                : $0.transactionId == transaction.purchase?.transactionIdentifier
        }
        guard let redeemed, redeemed.result.allowsFinish else {
            throw ServiceRefusal(
                code: redeemed?.result.rawValue ?? "notAcknowledged",
                message:
                    "The service did not redeem transaction \"\(transaction.purchase?.transactionIdentifier ?? "?")\". It stays in the queue."
            )
        }
        report(.redeemed(transaction, redemption))
    }

    private func finish(_ transaction: PaymentTransaction) async throws {
        try await store.finish(transaction)
        report(.finished(transaction))
    }
}

/// The steps of a purchase in the app, in order. Its process can die after each.
package enum DeviceStep: Hashable, Sendable {
    case paymentAdded(PaymentTransaction)
    /// The queue showed the transaction in a new state.
    case updated(PaymentTransaction)
    /// The app has read the proof and not sent it yet.
    case proofObtained(PaymentTransaction)
    /// The service answered, and the transaction is not finished yet.
    case redeemed(PaymentTransaction, Redemption)
    /// The service refused the proof. The transaction stays in the queue.
    case refused(PaymentTransaction, ServiceRefusal)
    /// The transaction is out of the queue.
    case finished(PaymentTransaction)

    package var transaction: PaymentTransaction {
        switch self {
        case .paymentAdded(let transaction), .updated(let transaction), .proofObtained(let transaction),
            .redeemed(let transaction, _), .refused(let transaction, _), .finished(let transaction):
            transaction
        }
    }

    /// The name of the step, for the option of a command.
    package var name: String {
        switch self {
        case .paymentAdded: "paymentAdded"
        case .updated(let transaction): transaction.state.rawValue
        case .proofObtained: "proofObtained"
        case .redeemed: "redeemed"
        case .refused: "refused"
        case .finished: "finished"
        }
    }
}

/// The device's connection to its store: the payment queue of one account, as StoreKit shows it to an app. The purchases of Google Play are
/// shown in the same way.
package protocol StoreConnection: Sendable {
    /// Adds a payment to the queue (`SKPaymentQueue.add(_:)`). Its transaction is purchasing.
    func add(_ payment: Payment) async throws -> PaymentTransaction

    /// Waits until the store has processed the payments that are purchasing.
    func processPayments() async throws

    /// The current state of a transaction in the queue (`paymentQueue(_:updatedTransactions:)`).
    func transaction(_ identifier: Int64) async throws -> PaymentTransaction

    /// The unfinished transactions, which the queue delivers to an app at its launch.
    func unfinishedTransactions() async throws -> [PaymentTransaction]

    /// The proof of a purchased transaction.
    func proof(of transaction: PaymentTransaction) async throws -> Proof

    /// Removes a transaction from the queue (`SKPaymentQueue.finishTransaction(_:)`), unless it is finished already.
    func finish(_ transaction: PaymentTransaction) async throws
}
