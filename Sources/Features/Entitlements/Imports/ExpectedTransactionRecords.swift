import Ledger
import Proofs

/// The SQL of purchases that imports expect, inside the caller's transaction.
struct ExpectedTransactionRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    private static let facts = ["product_id", "purchase_date", "expires_at"]

    private static func facts(_ purchase: ExpectedPurchase) -> [any SQLConvertible] {
        [purchase.productIdentifier, purchase.purchaseDate, purchase.expiresAt]
    }

    /// Inserts expected purchases. A purchase that another process has inserted stays as it is.
    func insert(_ purchases: [ExpectedPurchase], for user: Int64, at moment: Timestamp) throws {
        try database.insert(
            into: "expected_transaction", Table.originalKey + ["user_id", "expected_at"] + Self.facts,
            purchases.sorted { $0.key < $1.key }.map { $0.key.sqlValues(apps) + [user, moment] + Self.facts($0) },
            isNew: false)
    }

    /// Replaces the facts about expected purchases.
    func update(_ purchases: [ExpectedPurchase]) throws {
        try database.update(
            "expected_transaction", set: Self.facts, where: Table.originalKey,
            purchases.sorted { $0.key < $1.key }.map { Self.facts($0) + $0.key.sqlValues(apps) })
    }

    /// The expected purchases of a user, in the order of their original transactions.
    func purchases(of user: Int64) throws -> [ExpectedPurchase] {
        try database.rows(
            """
            SELECT app, origin, original_transaction_id, product_id, purchase_date, expires_at
            FROM expected_transaction WHERE user_id = $1
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
