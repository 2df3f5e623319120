import Proofs

extension Transaction {
    /// True if Apple refunded the transaction in full or in part. The refund history includes such transactions.
    package var isRefunded: Bool { revocation?.type == .refundFull || revocation?.type == .refundProrated }

    /// - Throws: `StoreError`, `invalidAction`, if the transaction is already revoked.
    func checkNotRevoked() throws(StoreError) {
        guard revocation == nil else {
            throw .invalidAction("Transaction \(transactionIdentifier) was taken back already.")
        }
    }
}
