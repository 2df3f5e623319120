import Commerce

/// A transaction that a user has redeemed, as the ledger keeps it.
public struct RedeemedTransaction: Hashable, Sendable {
    /// Grows with every transaction the ledger takes in, whoever's it is.
    public let sequence: Int64
    public let origin: Origin
    public let transactionIdentifier: String
    public let originalTransactionIdentifier: String
    public let productIdentifier: String
    public let quantity: Int
    public let purchaseDate: Timestamp
    public let redeemedAt: Timestamp
    /// When the purchase was taken back; nil while it stands.
    public let revocationDate: Timestamp?
    /// Why, in Apple's numbers (`revocationReason`); nil where nobody said.
    public let revocationReason: Int?
    /// That the team itself has taken it back; nil while it has not.
    public var revocation: Revocation? { revocations.first }
    /// At most one; behind an array, so that a transaction stays small enough to be returned by what throws.
    let revocations: [Revocation]
}
