import Ledger
import Proofs

/// An order that Google Play has listed as voided in full.
///
/// The list counts more than the state of the token: after a chargeback, Google Play may still state that the purchase is paid.
struct VoidedOrder {
    /// Empty for a purchase without an order.
    let orderId: String
    let voidedAt: Timestamp
    /// The reason in Google's numbers.
    let reason: Int
    /// The initiator in Google's numbers; nil if it was not stated.
    let source: Int?
}

extension [VoidedOrder] {
    /// A stated purchase of the token, taken back if its order is voided. Another order of a subscription is a renewal, which stands.
    ///
    /// - Parameter isSubscription: False for a one-time purchase, whose token has only one order.
    func applied(to stated: StatedPurchase, isSubscription: Bool) -> StatedPurchase {
        let order = stated.purchase.facts.text(.orderId)
        let voided = first { voided in
            !isSubscription || (order.map { voided.orderId.hasSameBytes(as: $0) } ?? false)
        }
        guard let voided, stated.purchase.revocationDate == nil else { return stated }
        var result = stated
        result.purchase = stated.purchase.revoked(
            at: voided.voidedAt, reason: RevocationReason(voidedReason: voided.reason).rawValue
        ).stating(voidedBy: voided.source, reason: voided.reason)
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

    /// Stores a voided purchase.
    ///
    /// - Returns: False if it is stored already.
    func write(_ voided: VoidedGooglePlayPurchase) throws -> Bool {
        try database.execute(
            """
            INSERT INTO google_voided_purchase (purchase_token, order_id, app, package, voided_at, reason, source)
            VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (purchase_token, order_id, app, package) DO NOTHING
            """,
            [
                voided.purchaseToken, voided.orderId ?? "", app, package, voided.voidedAt, voided.reason,
                voided.source,
            ]) > 0
    }

    /// The voided purchases of a token, the earliest first.
    func purchases(ofToken token: String) throws -> [VoidedOrder] {
        try database.rows(
            """
            SELECT order_id, voided_at, reason, source FROM google_voided_purchase
            WHERE purchase_token = $1 AND app = $2 AND package = $3 ORDER BY voided_at, order_id
            """,
            [token, app, package]
        ) {
            try VoidedOrder(
                orderId: $0.next(), voidedAt: $0.next(), reason: $0.next(), source: $0.next())
        }
    }
}

extension Table {
    /// The purchases that Google Play has listed as voided in full, redeemed or not. `order_id` is empty for a purchase without an order;
    /// `reason` and `source` are in Google's numbers.
    static let googleVoidedPurchase = Table(
        name: "google_voided_purchase", family: .globalKey,
        columns: [
            .text("purchase_token"), .text("order_id"), .integer("app"), .text("package"), .integer("voided_at"),
            .integer("reason"), .integer("source").optional,
        ],
        key: ["purchase_token", "order_id", "app", "package"])
}
