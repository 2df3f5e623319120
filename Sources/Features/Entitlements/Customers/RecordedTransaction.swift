import Proofs

/// A redeemed transaction with all facts about its proof.
public struct RecordedTransaction: Hashable, Sendable {
    public let transaction: RedeemedTransaction
    /// The date of the last statement about the transaction.
    public let statedAt: Timestamp
    /// The SHA-256 of the signed bytes.
    public let proofDigest: [UInt8]
    /// The SHA-256 of the trusted certificate that ends the chain; nil for a purchase without a proof.
    public let anchorDigest: [UInt8]?
    /// The SHA-256 of the certificate that has signed; nil for a purchase without a proof.
    public let leafDigest: [UInt8]?
    /// True if the ledger stores the signed bytes.
    public let isProofKept: Bool
    /// The items that the transaction grants.
    public let items: [Item]
    /// The amount that the transaction adds to a balance; nil for none.
    public let credit: Credit?
}
