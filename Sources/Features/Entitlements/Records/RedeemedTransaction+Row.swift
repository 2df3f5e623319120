import Ledger
import Proofs

extension RedeemedTransaction {
    /// The transaction of a row of `redeemed_transaction`.
    init(
        _ row: SQLRow,
        revocationDate: Timestamp? = nil,
        revocationReason: Int? = nil,
        details: Details
    ) throws {
        self.init(
            sequence: try row["sequence"], origin: try row["origin"], transactionIdentifier: try row["transaction_id"],
            originalTransactionIdentifier: try row["original_transaction_id"],
            productIdentifier: try row["product_id"], quantity: try row["quantity"],
            purchaseDate: try row["purchase_date"], redeemedAt: try row["redeemed_at"],
            revocationDate: revocationDate, revocationReason: revocationReason, details: details)
    }
}
