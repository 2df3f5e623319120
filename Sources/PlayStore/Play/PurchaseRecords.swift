import Foundation
import GRDB
import Proofs

/// The SQL statements on purchases and voided purchases. They run inside the caller's transaction.
struct PurchaseRecords {
    let database: Database

    /// The next number of the list, which purchases and subscriptions share.
    func nextNumber() throws -> Int64 {
        try Int64.fetchOne(
            database,
            sql: """
                SELECT coalesce(max(number), 0) + 1
                FROM (SELECT number FROM purchase UNION ALL SELECT number FROM subscription_purchase)
                """) ?? 1
    }

    func insert(_ purchase: OneTimePurchase) throws {
        try database.execute(
            literal: """
                INSERT INTO purchase (number, token, order_id, package_name, product_id, account, due_at, record)
                VALUES (\(purchase.number), \(purchase.token), \(purchase.orderId), \(purchase.terms.packageName),
                    \(purchase.terms.productId), \(purchase.account),
                    \(purchase.acknowledgementDeadline?.millisecondsSince1970), \(try PlayRecord.text(purchase)))
                """)
    }

    func update(_ purchase: OneTimePurchase) throws {
        try database.execute(
            literal: """
                UPDATE purchase SET order_id = \(purchase.orderId),
                    due_at = \(purchase.acknowledgementDeadline?.millisecondsSince1970),
                    record = \(try PlayRecord.text(purchase))
                WHERE number = \(purchase.number)
                """)
    }

    func purchase(token: String) throws -> OneTimePurchase? { try first("token = \(token)") }

    func purchase(order orderId: String) throws -> OneTimePurchase? { try first("order_id = \(orderId)") }

    func purchase(number: Int64) throws -> OneTimePurchase? { try first("number = \(number)") }

    /// The purchase whose deadline passed first.
    func firstDue(at now: Timestamp) throws -> OneTimePurchase? {
        try first("due_at <= \(now.millisecondsSince1970)", order: "due_at, number")
    }

    private func first(_ condition: SQL, order: SQL = "number") throws -> OneTimePurchase? {
        try SQLRequest<String>("SELECT record FROM purchase WHERE \(condition) ORDER BY \(order) LIMIT 1")
            .fetchOne(database).map { try PlayRecord.value($0) }
    }

    /// The purchases of all accounts or of one, newest first.
    func purchases(of account: String?, limit: Int) throws -> [OneTimePurchase] {
        let condition: SQL = account.map { "account = \($0)" } ?? "true"
        return try SQLRequest<String>(
            "SELECT record FROM purchase WHERE \(condition) ORDER BY number DESC LIMIT \(limit)"
        ).fetchAll(database).map { try PlayRecord.value($0) }
    }

    /// The number of an account's purchases with an offer. A canceled purchase counts no more.
    func redemptions(of offer: OneTimeProductOffer, by account: String) throws -> Int {
        try SQLRequest<Int>(
            """
            SELECT count(*) FROM purchase
            WHERE account = \(account) AND package_name = \(offer.packageName) AND product_id = \(offer.productId)
                AND json_extract(record, '$.terms.purchaseOptionId') = \(offer.purchaseOptionId)
                AND json_extract(record, '$.terms.offerId') = \(offer.offerId) AND json_extract(record, '$.state') <> 'canceled'
            """
        ).fetchOne(database) ?? 0
    }

    /// True if an account owns a product, or its payment for one is pending.
    func isOwned(_ productId: String, of packageName: String, by account: String) throws -> Bool {
        let records = try SQLRequest<String>(
            """
            SELECT record FROM purchase
            WHERE account = \(account) AND package_name = \(packageName) AND product_id = \(productId)
            """
        ).fetchAll(database)
        return try records.contains { try (PlayRecord.value($0) as OneTimePurchase).isOwned }
    }

    func add(_ voided: VoidedPurchase, of packageName: String, at time: Timestamp, isSubscription: Bool) throws {
        try database.execute(
            literal: """
                INSERT INTO voided_purchase (package_name, voided_at, is_partial, is_subscription, record)
                VALUES (\(packageName), \(time.millisecondsSince1970), \(voided.voidedQuantity != nil), \(isSubscription),
                    \(try PlayRecord.text(voided)))
                """)
    }

    /// The voided purchases of an app in a time, the oldest first, from an index on.
    func voidedPurchases(_ query: VoidedPurchaseQuery, of packageName: String) throws -> [VoidedPurchase] {
        try SQLRequest<String>(
            """
            SELECT record FROM voided_purchase WHERE \(Self.condition(query, packageName))
            ORDER BY voided_at, number LIMIT \(query.limit) OFFSET \(query.start)
            """
        ).fetchAll(database).map { try PlayRecord.value($0) }
    }

    func voidedPurchaseCount(_ query: VoidedPurchaseQuery, of packageName: String) throws -> Int {
        try SQLRequest<Int>("SELECT count(*) FROM voided_purchase WHERE \(Self.condition(query, packageName))")
            .fetchOne(database) ?? 0
    }

    private static func condition(_ query: VoidedPurchaseQuery, _ packageName: String) -> SQL {
        var condition: SQL = "package_name = \(packageName)"
        condition += " AND voided_at >= \(query.startTime) AND voided_at <= \(query.endTime)"
        if !query.includesPartial { condition += " AND NOT is_partial" }
        if !query.includesSubscriptions { condition += " AND NOT is_subscription" }
        return condition
    }
}
