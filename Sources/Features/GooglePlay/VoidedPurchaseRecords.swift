import Ledger
import Proofs

/// The purchases of a token that Google Play has listed as voided in full.
///
/// The list counts more than the state of the token: after a chargeback, Google Play may still state that the purchase is paid.
struct VoidedPurchases {
    fileprivate struct Record {
        /// Empty for a purchase without an order.
        let orderId: String
        let voidedAt: Timestamp
        /// The reason in Apple's numbers.
        let reason: Int
    }

    fileprivate var records: [Record] = []

    /// No voided purchases.
    init() {}

    fileprivate init(records: [Record]) { self.records = records }

    /// The stated purchase, taken back if its order is voided. Another order of a subscription is a renewal, which stands.
    ///
    /// - Parameter isSubscription: False for a one-time purchase, whose token has only one order.
    func applied(to stated: StatedPurchase, isSubscription: Bool) -> StatedPurchase {
        let order = stated.purchase.facts.text(.orderId)
        let voided = records.first { record in
            !isSubscription || (order.map { record.orderId.hasSameBytes(as: $0) } ?? false)
        }
        guard let voided, stated.purchase.revocationDate == nil else { return stated }
        var result = stated
        result.purchase = stated.purchase.revoked(at: voided.voidedAt, reason: voided.reason)
        return result
    }
}

/// The SQL of voided purchases of an app, inside the caller's transaction.
struct VoidedPurchaseRecords {
    let database: any LedgerDatabase
    /// The number of the app.
    let app: Int64
    /// The name of the app on Google Play.
    let package: String

    /// Stores a voided purchase, unless it is stored.
    func write(_ voided: VoidedGooglePlayPurchase) throws {
        try database.write(
            """
            INSERT INTO google_voided_purchase (purchase_token, order_id, app, package, voided_at, reason)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (purchase_token, order_id, app, package) DO NOTHING
            """,
            [
                voided.purchaseToken, voided.orderId ?? "", app, package, voided.voidedAt,
                voided.revocationReason.rawValue,
            ])
    }

    /// The voided purchases of a token, the earliest first.
    func purchases(ofToken token: String) throws -> VoidedPurchases {
        VoidedPurchases(
            records: try database.rows(
                """
                SELECT order_id, voided_at, reason FROM google_voided_purchase
                WHERE purchase_token = $1 AND app = $2 AND package = $3 ORDER BY voided_at, order_id
                """,
                [token, app, package]
            ) { try VoidedPurchases.Record(orderId: $0.next(), voidedAt: $0.next(), reason: $0.next()) })
    }
}
