import Commerce
import Entitlements
import HTTPSupport
import Ledger

/// A redeemed transaction as the service shows it.
struct TransactionResource: Encodable, Sendable {
    let transactionId: String
    let originalTransactionId: String
    let productId: String
    let quantity: Int
    let origin: Origin
    /// Dates are RFC 3339, UTC.
    let purchaseDate: String
    let redeemedAt: String
    /// When what was bought ends; absent of what lasts.
    let expiresDate: String?
    /// When the purchase was taken back; absent while it stands.
    let revocationDate: String?
    /// Why, in Apple's numbers: 1 for a problem with the app, 0 for another reason; absent where nobody said.
    let revocationReason: Int?
    /// That the team has taken it back; absent while it has not.
    let revocation: RevocationResource?

    init(_ transaction: RedeemedTransaction) {
        transactionId = transaction.transactionIdentifier
        originalTransactionId = transaction.originalTransactionIdentifier
        productId = transaction.productIdentifier
        quantity = transaction.quantity
        origin = transaction.origin
        purchaseDate = transaction.purchaseDate.rfc3339
        redeemedAt = transaction.redeemedAt.rfc3339
        expiresDate = transaction.expiresAt?.rfc3339
        revocationDate = transaction.revocationDate?.rfc3339
        revocationReason = transaction.revocationReason
        revocation = transaction.revocation.map(RevocationResource.init)
    }
}

/// A page of them, newest first.
struct TransactionList: Encodable {
    let transactions: [TransactionResource]
    /// What `cursor` has to be for the next page; absent on the last.
    let nextCursor: String?
}
