import Foundation
import GRDB
import Proofs

/// The SQL statements on subscription purchases. They run inside the caller's transaction.
struct SubscriptionRecords {
    let database: Database

    func insert(_ purchase: RecurringPurchase) throws {
        try database.execute(
            literal: """
                INSERT INTO subscription_purchase (number, token, order_id, package_name, product_id, account, due_at, record)
                VALUES (\(purchase.number), \(purchase.token), \(purchase.orderId),
                    \(purchase.terms.packageName), \(purchase.terms.productId), \(purchase.account),
                    \(purchase.nextMoment?.millisecondsSince1970), \(try PlayRecord.text(purchase)))
                """)
    }

    func update(_ purchase: RecurringPurchase) throws {
        try database.execute(
            literal: """
                UPDATE subscription_purchase SET product_id = \(purchase.terms.productId),
                    due_at = \(purchase.nextMoment?.millisecondsSince1970),
                    record = \(try PlayRecord.text(purchase))
                WHERE number = \(purchase.number)
                """)
    }

    func purchase(token: String) throws -> RecurringPurchase? { try first("token = \(token)") }

    func purchase(number: Int64) throws -> RecurringPurchase? { try first("number = \(number)") }

    /// The purchase of an order. A renewal has the first order with `..0`, `..1` and so on behind it.
    func purchase(order orderId: String) throws -> RecurringPurchase? {
        let base = orderId.firstRange(of: "..").map { String(orderId[..<$0.lowerBound]) } ?? orderId
        return try first("order_id = \(base)")
    }

    func firstDue(at now: Timestamp) throws -> RecurringPurchase? {
        try first("due_at <= \(now.millisecondsSince1970)", order: "due_at, number")
    }

    /// The latest purchase of a product by an account.
    func latest(of productId: String, in packageName: String, by account: String) throws -> RecurringPurchase? {
        try first(
            "account = \(account) AND package_name = \(packageName) AND product_id = \(productId)", order: "number DESC"
        )
    }

    /// The purchase of a product by an account that has not ended, also a pending one, or one that becomes the product's.
    func current(of productId: String, in packageName: String, by account: String) throws -> RecurringPurchase? {
        try fetch("account = \(account) AND package_name = \(packageName) ORDER BY number DESC")
            .first { !$0.isEnded && $0.isOf(productId) }
    }

    /// The purchases of a product by all accounts, the oldest first.
    func purchases(of productId: String, in packageName: String) throws -> [RecurringPurchase] {
        try fetch("package_name = \(packageName) AND product_id = \(productId) ORDER BY number")
    }

    private func fetch(_ condition: SQL) throws -> [RecurringPurchase] {
        try SQLRequest<String>("SELECT record FROM subscription_purchase WHERE \(condition)").fetchAll(database)
            .map { try PlayRecord.value($0) }
    }

    private func first(_ condition: SQL, order: SQL = "number") throws -> RecurringPurchase? {
        try SQLRequest<String>("SELECT record FROM subscription_purchase WHERE \(condition) ORDER BY \(order) LIMIT 1")
            .fetchOne(database).map { try PlayRecord.value($0) }
    }

    /// The purchases of all accounts or of one, newest first.
    func purchases(of account: String?, limit: Int) throws -> [RecurringPurchase] {
        let condition: SQL = account.map { "account = \($0)" } ?? "true"
        return try fetch("\(condition) ORDER BY number DESC LIMIT \(limit)")
    }
}
