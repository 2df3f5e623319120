import Proofs

/// A redeemed transaction with all facts about its proof.
package struct RecordedTransaction: Hashable, Sendable {
    package let transaction: RedeemedTransaction
    /// The date of the last statement about the transaction.
    package let statedAt: Timestamp
    /// The SHA-256 of the signed bytes.
    package let proofDigest: [UInt8]
    /// The SHA-256 of the trusted certificate that ends the chain; nil for a purchase without a proof.
    package let anchorDigest: [UInt8]?
    /// The SHA-256 of the certificate that has signed; nil for a purchase without a proof.
    package let leafDigest: [UInt8]?
    /// True if the ledger stores the signed bytes.
    package let isProofKept: Bool
    /// The items that the transaction grants.
    package let items: [Item]
    /// The amount that the transaction adds to a balance; nil for none.
    package let credit: Credit?
}
