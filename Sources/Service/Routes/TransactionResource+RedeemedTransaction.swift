import Features
import Proofs

extension TransactionResource {
    /// - Parameter keys: The names of API keys by their identifiers.
    init(_ transaction: RedeemedTransaction, naming keys: [String: String] = [:]) {
        self.init(
            bundleId: transaction.app,
            transactionId: transaction.transactionIdentifier,
            originalTransactionId: transaction.originalTransactionIdentifier,
            productId: transaction.productIdentifier, quantity: transaction.quantity, origin: transaction.origin,
            purchaseDate: transaction.purchaseDate.rfc3339, redeemedAt: transaction.redeemedAt.rfc3339,
            expiresDate: transaction.expiresAt?.rfc3339, revocationDate: transaction.revocationDate?.rfc3339,
            revocationReason: transaction.revocationReason,
            revocation: transaction.revocation.map { RevocationResource($0, naming: keys) },
            facts: transaction.facts.content)
    }
}
