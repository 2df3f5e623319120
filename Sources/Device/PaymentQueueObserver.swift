import Commerce

/// The app: it adds payments, watches its queue, and redeems what was bought before it finishes the transaction, in that
/// order, so that a crash anywhere loses nothing (StoreKit, `SKPaymentTransactionObserver`).
public struct PaymentQueueObserver: Sendable {
    private let store: any StoreConnection
    private let service: any ServiceConnection
    private let report: @Sendable (DeviceStep) -> Void

    /// - Parameter report: Called after each step is done and before the next begins.
    public init(
        store: any StoreConnection,
        service: any ServiceConnection,
        report: @escaping @Sendable (DeviceStep) -> Void = { _ in }
    ) {
        self.store = store
        self.service = service
        self.report = report
    }

    /// Buys, and takes the transaction as far as it goes now: finished, or deferred, or refused by the service.
    ///
    /// - Returns: The transaction as the store showed it last.
    public func buy(_ payment: Payment) async throws -> PaymentTransaction {
        let added = try await store.add(payment)
        report(.paymentAdded(added))
        try await store.processPayments()
        // Asked for by its number: another launch of the app may have taken it further meanwhile.
        try await observe(try await store.transaction(added.identifier))
        return try await store.transaction(added.identifier)
    }

    /// What an app does at its launch: takes up every transaction that is not finished.
    ///
    /// - Returns: The transactions taken up; those that wait for approval are not among them.
    @discardableResult
    public func resume() async throws -> [PaymentTransaction] {
        // Payments that were under way when the app died are the store's to complete.
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
                // Another launch of the app may have handled it meanwhile; then the proof no longer names it.
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
        let line = redemption.transactions.first { $0.transactionId == transaction.purchase?.transactionIdentifier }
        guard let line, line.result.allowsFinish else {
            throw ServiceRefusal(
                code: line?.result.rawValue ?? "notAcknowledged",
                message: "The service did not take the transaction, so it stays in the queue.")
        }
        report(.redeemed(transaction, redemption))
    }

    private func finish(_ transaction: PaymentTransaction) async throws {
        try await store.finish(transaction)
        report(.finished(transaction))
    }
}
