import Ledger
import Proofs

/// The SQL of purchases that imports expect, inside the caller's transaction.
struct ExpectedTransactionRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    private static let userKey = ["user_id"] + Table.originalKey
    private static let facts = ["product_id", "purchase_date", "expires_at"]

    private static func facts(_ purchase: ExpectedPurchase) -> [any SQLConvertible] {
        [purchase.productIdentifier, purchase.purchaseDate, purchase.expiresAt]
    }

    /// Inserts expected purchases. A purchase that another process has inserted stays as it is.
    func insert(_ purchases: [ExpectedPurchase], for user: Int64, at moment: Timestamp) throws {
        let purchases = purchases.sorted { $0.key < $1.key }
        try database.insert(
            into: "expected_transaction", Table.originalKey + ["user_id"],
            purchases.map { $0.key.sqlValues(apps) + [user] }, isNew: false)
        try database.insert(
            into: "expected_purchase", Self.userKey + ["expected_at"] + Self.facts,
            purchases.map { [user] + $0.key.sqlValues(apps) + [moment] + Self.facts($0) }, isNew: false)
    }

    /// Replaces the facts about expected purchases of a user.
    func update(_ purchases: [ExpectedPurchase], of user: Int64) throws {
        try database.update(
            "expected_purchase", set: Self.facts, where: Self.userKey,
            purchases.sorted { $0.key < $1.key }.map { Self.facts($0) + [user] + $0.key.sqlValues(apps) })
    }

    /// Deletes expectations that proofs have confirmed.
    ///
    /// - Parameter owners: The users for whom the purchases were expected.
    func delete(_ owners: [TransactionKey: Int64]) throws {
        let expected = owners.sorted { $0.key < $1.key }
        try database.delete(
            from: "expected_transaction", where: Table.originalKey, expected.map { $0.key.sqlValues(apps) })
        try database.delete(
            from: "expected_purchase", where: Self.userKey, expected.map { [$0.value] + $0.key.sqlValues(apps) })
    }

    /// Makes the purchases that are expected for a user lead to another one. The rows of the user's own data do not move.
    func redirect(of former: Int64, to user: Int64) throws {
        try database.update(
            "expected_transaction", set: ["user_id"], where: Table.originalKey,
            try purchases(of: former).map { [user] + $0.key.sqlValues(apps) })
    }

    /// The expected purchases of a user, in the order of their original transactions.
    func purchases(of user: Int64) throws -> [ExpectedPurchase] {
        try database.rows(
            """
            SELECT app, origin, original_transaction_id, product_id, purchase_date, expires_at
            FROM expected_purchase WHERE user_id = $1
            ORDER BY original_transaction_id, origin, app
            """,
            [user]
        ) {
            ExpectedPurchase(
                app: try apps.bundleIdentifier(of: try $0.next()), origin: try $0.next(),
                originalTransactionIdentifier: try $0.next(), productIdentifier: try $0.next(),
                purchaseDate: try $0.next(), expiresAt: try $0.next())
        }
    }
}

/// An item that another purchase server gave to an imported customer without a purchase.
package struct PromisedItem: Hashable, Sendable {
    /// The identifier of the grant. It follows from the imported record, so that a second import changes nothing.
    package let identifier: String
    package let item: Item
    /// The reason for the audit log.
    package let reason: String
    /// Nil for no end.
    package let endsAt: Timestamp?

    package init(identifier: String, item: Item, reason: String, endsAt: Timestamp?) {
        self.identifier = identifier
        self.item = item
        self.reason = reason
        self.endsAt = endsAt
    }
}

/// A purchase that another purchase server has recorded for an imported customer. It is only expected: the customer owns nothing by it
/// before a proof.
package struct ExpectedPurchase: Hashable, Sendable {
    /// The bundle identifier of the app.
    package let app: String
    package let origin: Origin
    package let originalTransactionIdentifier: String
    /// The product of the newest transaction, as the other server states it, like the dates.
    package let productIdentifier: String
    package let purchaseDate: Timestamp
    /// Nil for no end.
    package let expiresAt: Timestamp?

    package init(
        app: String,
        origin: Origin,
        originalTransactionIdentifier: String,
        productIdentifier: String,
        purchaseDate: Timestamp,
        expiresAt: Timestamp?
    ) {
        self.app = app
        self.origin = origin
        self.originalTransactionIdentifier = originalTransactionIdentifier
        self.productIdentifier = productIdentifier
        self.purchaseDate = purchaseDate
        self.expiresAt = expiresAt
    }

    var key: TransactionKey {
        TransactionKey(app: app, origin: origin, identifier: originalTransactionIdentifier)
    }
}
