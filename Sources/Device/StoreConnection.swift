import Commerce

/// The device's line to the App Store, as StoreKit draws it for an app: one account's payment queue.
public protocol StoreConnection: Sendable {
    /// Adds a payment to the queue (SKPaymentQueue.add(_:)); it is purchasing.
    func add(_ payment: Payment) async throws -> PaymentTransaction

    /// Waits until the store has worked on the payments that are purchasing.
    func processPayments() async throws

    /// A transaction as the queue shows it now (paymentQueue(_:updatedTransactions:)).
    func transaction(_ identifier: Int64) async throws -> PaymentTransaction

    /// The transactions that are not finished, as they are delivered to an app at its launch.
    func unfinishedTransactions() async throws -> [PaymentTransaction]

    /// What proves a purchased transaction to a service.
    func proof(of transaction: PaymentTransaction) async throws -> Proof

    /// Takes a transaction out of the queue (SKPaymentQueue.finishTransaction(_:)); one that is out already, never mind.
    func finish(_ transaction: PaymentTransaction) async throws
}
