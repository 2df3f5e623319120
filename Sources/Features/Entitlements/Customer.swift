import Proofs

/// A user with redeemed transactions, and one of them, by which the App Store finds the customer.
package struct Customer: Hashable, Sendable {
    /// The number of the user in the ledger. Newer users have greater numbers.
    package let number: Int64
    package let user: User
    package let transactionIdentifier: String
}
