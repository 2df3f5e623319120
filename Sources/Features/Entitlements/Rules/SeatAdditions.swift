import Proofs

/// Finds the transactions of a purchase that add seats to the period of an earlier one (App Store Server API,
/// `additionalTransactionReason`).
///
/// Such a transaction takes no period's place. The App Store states the reason for every transaction of the period, so the one
/// that was there before is told by its date.
struct SeatAdditions {
    /// The last end of the periods so far, by the product.
    private var ends: [ByteKey: Timestamp] = [:]

    init() {}

    /// Returns true if the next transaction adds seats to the period of an earlier one.
    ///
    /// - Parameters:
    ///   - isAdditional: True if the App Store has stated that the transaction is not the only one of its period.
    ///   - start: The purchase date, not before that of the transaction before.
    mutating func adds(_ isAdditional: Bool, to product: String, from start: Timestamp, until end: Timestamp?) -> Bool {
        guard let end else { return false }
        let last = ends[ByteKey(product)]
        ends[ByteKey(product)] = max(last ?? end, end)
        return isAdditional && last.map { start.adding(seconds: Coverage.clockToleranceSeconds) < $0 } ?? false
    }

    mutating func adds(_ period: PurchasePeriod) -> Bool {
        adds(
            period.terms.isAdditional, to: period.productIdentifier, from: period.purchaseDate, until: period.expiresAt)
    }

    mutating func adds(_ transaction: RedeemedTransaction) -> Bool {
        adds(
            PurchasePeriod.Terms(transaction.facts).isAdditional, to: transaction.productIdentifier,
            from: transaction.purchaseDate, until: transaction.expiresAt)
    }
}
