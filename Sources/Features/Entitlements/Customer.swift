import Proofs

/// A user with redeemed transactions, and one of them, by which the App Store finds the customer.
public struct Customer: Hashable, Sendable {
    /// The number of the user in the ledger. Newer users have greater numbers.
    public let number: Int64
    public let user: User
    public let transactionIdentifier: String
}
