import GRDB
import HTTPSupport
import Proofs

/// A purchase in the database: of a one-time product, or of a subscription.
protocol KeptPurchase: Codable {
    static var table: String { get }

    /// The number in the local Play's list, which purchases of both kinds share.
    var number: Int64 { get }
    var token: String { get }
    var account: String { get }
    var packageName: String { get }
    var productId: String { get }
    /// The app's identifiers of its account and profile.
    var obfuscatedIdentifiers: (account: String?, profile: String?) { get }
    /// The order by which the purchase is found; nil without one.
    var keptOrderId: String? { get }
    /// The moment of the next due event; nil if nothing more becomes due.
    var dueTime: Timestamp? { get }

    /// True if the purchase is of a product, or will be.
    func isOf(_ productId: String) -> Bool
    /// True if the API has forgotten the token.
    func isForgotten(at now: Timestamp) -> Bool
    /// The order by which a purchase with an order is found.
    static func keptOrderId(of orderId: String) -> String
}

extension OneTimePurchase: KeptPurchase {
    static let table = "purchase"

    var packageName: String { terms.packageName }
    var productId: String { terms.productId }
    var obfuscatedIdentifiers: (account: String?, profile: String?) {
        (terms.obfuscatedAccountId, terms.obfuscatedProfileId)
    }
    var keptOrderId: String? { orderId }
    var dueTime: Timestamp? { releaseTime ?? acknowledgementDeadline }

    /// Of several products, the first one names the purchase in a path of the API.
    func isOf(_ productId: String) -> Bool { terms.productId == productId }

    func isForgotten(at now: Timestamp) -> Bool { false }

    static func keptOrderId(of orderId: String) -> String { orderId }
}

extension RecurringPurchase: KeptPurchase {
    static let table = "subscription_purchase"

    var packageName: String { base.terms.packageName }
    var productId: String { base.terms.productId }
    var obfuscatedIdentifiers: (account: String?, profile: String?) {
        (base.terms.obfuscatedAccountId, base.terms.obfuscatedProfileId)
    }
    var keptOrderId: String? { orderId }
    var dueTime: Timestamp? { nextMoment }

    /// A renewal has the first order with `..0`, `..1` and so on behind it.
    static func keptOrderId(of orderId: String) -> String {
        orderId.firstRange(of: "..").map { String(orderId[..<$0.lowerBound]) } ?? orderId
    }
}

/// The SQL statements on the purchases of one kind. They run inside the caller's transaction.
struct PurchaseRecords<Purchase: KeptPurchase> {
    let database: Database

    /// Adds a purchase, or writes a changed one.
    func keep(_ purchase: Purchase) throws {
        try database.insert(
            [
                "number": purchase.number, "token": purchase.token, "order_id": purchase.keptOrderId,
                "package_name": purchase.packageName, "product_id": purchase.productId, "account": purchase.account,
                "due_at": purchase.dueTime, "record": try LocalRecord.text(purchase),
            ], into: Purchase.table, replacing: "number")
    }

    func purchase(token: String) throws -> Purchase? { try fetch("token = \(token)").first }

    func purchase(number: Int64) throws -> Purchase? { try fetch("number = \(number)").first }

    /// The purchase of an order, also of one of its renewals.
    func purchase(order orderId: String) throws -> Purchase? {
        try fetch("order_id = \(Purchase.keptOrderId(of: orderId))").first
    }

    /// The purchase that was due first.
    ///
    /// - Parameter account: The account with its own clock; nil for all that follow the Play's.
    func firstDue(at now: Timestamp, of account: String?) throws -> Purchase? {
        try fetch("due_at <= \(now) AND \(ClockRecords.follows(account)) ORDER BY due_at, number LIMIT 1").first
    }

    /// The purchases of all accounts or of one, newest first.
    func purchases(of account: String?, limit: Int) throws -> [Purchase] {
        let condition: SQL = account.map { "account = \($0)" } ?? "true"
        return try fetch("\(condition) ORDER BY number DESC LIMIT \(limit)")
    }

    func fetch(_ condition: SQL) throws -> [Purchase] {
        try database.records("SELECT record FROM \(sql: Purchase.table) WHERE \(condition)")
    }
}

extension PurchaseRecords<OneTimePurchase> {
    /// The purchases of a product by an account, also beside others, newest first.
    func purchases(of productId: String, in packageName: String, by account: String) throws -> [OneTimePurchase] {
        try fetch(
            """
            account = \(account) AND package_name = \(packageName)
                AND (product_id = \(productId) OR json_array_length(record, '$.others') > 0) ORDER BY number DESC
            """
        ).filter { $0.items.contains { $0.productId == productId } }
    }

    /// The number of an account's purchases with an offer. A canceled purchase counts no more.
    func redemptions(of offer: OneTimeProductOffer, by account: String) throws -> Int {
        guard let productId = offer.productId, let packageName = offer.packageName else { return 0 }
        return try purchases(of: productId, in: packageName, by: account).count { purchase in
            purchase.state != .canceled
                && purchase.items.contains {
                    $0.productId == productId && $0.purchaseOptionId == offer.purchaseOptionId
                        && $0.offerId == offer.offerId
                }
        }
    }

    /// The pre-orders with an offer that wait for their release.
    func preorders(of offer: OneTimeProductOffer) throws -> [OneTimePurchase] {
        guard let productId = offer.productId, let packageName = offer.packageName else { return [] }
        return try fetch(
            "package_name = \(packageName) AND product_id = \(productId) ORDER BY number"
        ).filter {
            $0.releaseTime != nil && $0.terms.purchaseOptionId == offer.purchaseOptionId
                && $0.terms.offerId == offer.offerId
        }
    }
}

extension PurchaseRecords<RecurringPurchase> {
    /// The purchases of a product by all accounts, the oldest first, also those that have it as an add-on.
    func subscriptions(of productId: String, in packageName: String) throws -> [RecurringPurchase] {
        try fetch("package_name = \(packageName) AND \(Self.mayHave(productId)) ORDER BY number")
            .filter { $0.hasHad(productId) }
    }

    /// The purchases of an account in an app.
    func subscriptions(by account: String, in packageName: String) throws -> [RecurringPurchase] {
        try fetch("account = \(account) AND package_name = \(packageName)")
    }

    private static func mayHave(_ productId: String) -> SQL {
        """
        (product_id = \(productId) OR json_array_length(record, '$.addOns') > 0
            OR json_array_length(record, '$.formerItems') > 0)
        """
    }

    /// The purchase of a product by an account that has not ended, also a pending one, or one that becomes the product's.
    func current(of productId: String, in packageName: String, by account: String) throws -> RecurringPurchase? {
        try fetch("account = \(account) AND package_name = \(packageName) ORDER BY number DESC")
            .first { !$0.isEnded && $0.isOf(productId) }
    }
}

extension PlayBooks {
    /// The next number of the list, which purchases and subscriptions share.
    func nextNumber() throws -> Int64 {
        try Int64.fetchOne(
            database,
            sql: """
                SELECT coalesce(max(number), 0) + 1
                FROM (SELECT number FROM purchase UNION ALL SELECT number FROM subscription_purchase)
                """) ?? 1
    }

    /// The purchase of a number in the list.
    ///
    /// - Throws: `PlayError`, `purchaseNotFound`.
    package func purchase(_ number: Int64) throws -> OneTimePurchase {
        try found(purchases.purchase(number: number), number)
    }

    /// The subscription of a number in the list.
    ///
    /// - Throws: `PlayError`, `purchaseNotFound`.
    package func subscription(_ number: Int64) throws -> RecurringPurchase {
        try found(subscriptions.purchase(number: number), number)
    }

    private func found<Purchase>(_ purchase: Purchase?, _ number: Int64) throws(PlayError) -> Purchase {
        guard let purchase else { throw .purchaseNotFound(String(number)) }
        return purchase
    }
}
