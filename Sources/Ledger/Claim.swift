import Commerce
import Foundation

/// One transaction of a verified proof, as a user claims it.
public struct Claim: Hashable, Sendable {
    public let origin: Origin
    public let transactionIdentifier: String
    public let originalTransactionIdentifier: String
    public let productIdentifier: String
    public let quantity: Int
    public let purchaseDate: Timestamp
    /// When the purchase was taken back; a claim that says so grants nothing and ends what the transaction granted before.
    public let revocationDate: Timestamp?
    /// The account token the purchase was made under, which says whose it is; nil when the proof names none.
    public let appAccountToken: UUID?
    /// The SHA-256 of what was signed; the proof itself is not kept.
    public let proofDigest: [UInt8]
    public let item: Item

    public init(
        origin: Origin,
        transactionIdentifier: String,
        originalTransactionIdentifier: String,
        productIdentifier: String,
        quantity: Int,
        purchaseDate: Timestamp,
        revocationDate: Timestamp?,
        appAccountToken: UUID? = nil,
        proofDigest: [UInt8],
        item: Item
    ) {
        self.origin = origin
        self.transactionIdentifier = transactionIdentifier
        self.originalTransactionIdentifier = originalTransactionIdentifier
        self.productIdentifier = productIdentifier
        self.quantity = quantity
        self.purchaseDate = purchaseDate
        self.revocationDate = revocationDate
        self.appAccountToken = appAccountToken
        self.proofDigest = proofDigest
        self.item = item
    }
}
