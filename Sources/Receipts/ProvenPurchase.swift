import Commerce
import Foundation

/// A purchase as a verified proof states it, whichever form the proof has.
public struct ProvenPurchase: Hashable, Sendable {
    public let transactionIdentifier: String
    /// The first purchase of the same product; the transaction itself when the proof names none.
    public let originalTransactionIdentifier: String
    public let productIdentifier: String
    public let quantity: Int
    public let purchaseDate: Timestamp
    /// When Apple took the purchase back (refund, family sharing ended); nil while it stands.
    public let revocationDate: Timestamp?
    /// Why, in Apple's numbers (`revocationReason`); nil where the proof does not say.
    public let revocationReason: Int?
    /// When what was bought ends; nil where the proof does not say. Of a subscription that was upgraded it has ended.
    public let expiresDate: Timestamp?
    /// The account token the app gave the purchase; nil in app receipts, which have none.
    public let appAccountToken: UUID?
    public let facts: TransactionFacts

    init(_ purchase: InAppPurchase) {
        transactionIdentifier = purchase.transactionIdentifier
        originalTransactionIdentifier = purchase.originalTransactionIdentifier ?? purchase.transactionIdentifier
        productIdentifier = purchase.productIdentifier
        quantity = purchase.quantity
        purchaseDate = purchase.purchaseDate
        revocationDate = purchase.cancellationDate
        revocationReason = nil
        expiresDate = purchase.expiresDate
        appAccountToken = nil
        facts = TransactionFacts(purchase)
    }

    public init(_ transaction: JWSTransactionDecodedPayload) {
        transactionIdentifier = transaction.transactionId
        originalTransactionIdentifier = transaction.originalTransactionId
        productIdentifier = transaction.productId
        quantity = transaction.quantity
        purchaseDate = transaction.purchaseDate
        revocationDate = transaction.revocationDate
        revocationReason = transaction.revocationReason?.rawValue
        expiresDate = transaction.isUpgraded == true ? transaction.purchaseDate : transaction.expiresDate
        appAccountToken = transaction.appAccountToken
        facts = TransactionFacts(transaction)
    }
}
