import Ledger
import Proofs

/// The purchases of a token that Google Play has listed as voided, in full or some of their units.
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

    private let token: String
    private let records: [Record]
    private let units: VoidedUnits

    /// No voided purchases.
    init(ofToken token: String) { self.init(ofToken: token, [], VoidedUnits()) }

    fileprivate init(ofToken token: String, _ records: [Record], _ units: VoidedUnits) {
        (self.token, self.records, self.units) = (token, records, units)
    }

    /// The stated purchase, taken back if its order is voided. Another order of a subscription is a renewal, which stands. Voided units are
    /// refunded, also if the state does not say so.
    ///
    /// - Parameter isSubscription: False for a one-time purchase, whose token has only one order.
    func applied(to stated: StatedPurchase, isSubscription: Bool) -> StatedPurchase {
        let order = stated.purchase.facts.text(.orderId)
        let voided = records.first { record in
            !isSubscription || (order.map { record.orderId.hasSameBytes(as: $0) } ?? false)
        }
        var result = stated
        let units = isSubscription ? VoidedUnits() : units(of: stated)
        result.refundedQuantity = max(stated.refundedQuantity, units.quantity)
        guard let voided = voided ?? units.record(voiding: stated.purchase), stated.purchase.revocationDate == nil
        else { return result }
        result.purchase = stated.purchase.revoked(at: voided.voidedAt, reason: voided.reason)
        return result
    }

    /// The voided units of a product. If the purchase has several products, Google does not say of which one they are.
    private func units(of stated: StatedPurchase) -> VoidedUnits {
        stated.purchase.transactionIdentifier.hasSameBytes(as: token) ? units : VoidedUnits()
    }
}

extension VoidedUnits {
    /// The record of a purchase of which all units are voided, each by itself; nil for another one.
    fileprivate func record(voiding purchase: ProvenPurchase) -> VoidedPurchases.Record? {
        guard let voidedAt, quantity >= purchase.quantity else { return nil }
        return .init(orderId: "", voidedAt: voidedAt, reason: RevocationReason.refundedForOtherReason.rawValue)
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
        let records = try database.rows(
            """
            SELECT order_id, voided_at, reason FROM google_voided_purchase
            WHERE purchase_token = $1 AND app = $2 AND package = $3 ORDER BY voided_at, order_id
            """,
            [token, app, package]
        ) { try VoidedPurchases.Record(orderId: $0.next(), voidedAt: $0.next(), reason: $0.next()) }
        return VoidedPurchases(ofToken: token, records, try units.units(ofToken: token))
    }

    /// The records of single units.
    var units: VoidedUnitRecords { VoidedUnitRecords(database: database, app: app, package: package) }
}
