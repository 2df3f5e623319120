import Proofs

/// A transaction of the payment queue, with its account.
package struct QueuedTransaction: Hashable, Sendable {
    /// The customer's App Store account.
    package let account: String
    package let transaction: PaymentTransaction
}
