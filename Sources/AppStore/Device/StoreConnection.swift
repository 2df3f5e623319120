import Proofs

/// The device's connection to the App Store: the payment queue of one account, as StoreKit shows it to an app.
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
