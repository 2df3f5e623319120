import Proofs

/// A transaction of the payment queue, with its account.
public struct QueuedTransaction: Hashable, Sendable {
    /// The customer's App Store account.
    public let account: String
    public let transaction: PaymentTransaction
}
