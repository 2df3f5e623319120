import Foundation
import Ledger
import Proofs

/// The product of a claim's JSON.
private struct ClaimedProduct: Decodable {
    let productIdentifier: String
}

/// The SQL of unclaimed purchases, inside the caller's transaction.
struct UnclaimedRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    /// The unclaimed purchases in the order of the transactions.
    ///
    /// - Parameter app: The number of the app; nil for all apps.
    func purchases(
        of identifier: String?,
        in app: Int64? = nil,
        after last: UnclaimedPurchase.Position?,
        limit: Int
    ) throws -> [(purchase: UnclaimedPurchase, claim: Claim)] {
        let condition =
            (app.map { "AND app = \($0) " } ?? "")
            + (identifier == nil ? "" : "AND (transaction_id = $4 OR original_transaction_id = $4)")
        return try database.rows(
            """
            SELECT * FROM parked_transaction
            WHERE (transaction_id, origin, app) > ($1, $2, $3) \(condition)
            ORDER BY transaction_id, origin, app LIMIT $\(identifier == nil ? 4 : 5)
            """,
            [last?.transactionIdentifier ?? "", last?.origin ?? "", last?.app ?? 0]
                + (identifier.map { [$0] } ?? []) + [limit]
        ).map(purchase)
    }

    /// The newest unclaimed purchase of one of some products from some origins, except revoked ones.
    ///
    /// - Parameter app: The number of the app; nil for all apps.
    func newest(ofProducts products: [String], of origins: Set<Origin>, in app: Int64? = nil) throws
        -> UnclaimedPurchase?
    {
        // A claim is a JSON text without an index. There are few unclaimed purchases.
        let rows = try database.rows(
            """
            SELECT * FROM parked_transaction
            WHERE revocation_date IS NULL AND origin IN \(origins.sqlList)
                \(app.map { "AND app = \($0)" } ?? "")
            ORDER BY stated_at DESC, transaction_id, origin, app LIMIT 500
            """, [])
        let known = Set(products.map { ByteKey($0) })
        for row in rows {
            let record: [UInt8] = try row["claim"]
            // One member takes a tenth of the time of all.
            let product = try JSONDecoder().decode(ClaimedProduct.self, from: Data(record)).productIdentifier
            if known.contains(ByteKey(product)) { return try purchase(row).purchase }
        }
        return nil
    }

    private func purchase(_ row: SQLRow) throws -> (purchase: UnclaimedPurchase, claim: Claim) {
        let record: [UInt8] = try row["claim"]
        var claim = try JSONDecoder().decode(Claim.self, from: Data(record))
        claim.app = try apps.bundleIdentifier(row)
        let purchase = UnclaimedPurchase(
            transactionIdentifier: claim.transactionIdentifier,
            originalTransactionIdentifier: claim.originalTransactionIdentifier, origin: claim.origin, app: claim.app,
            productIdentifier: claim.productIdentifier, purchaseDate: claim.purchaseDate,
            statedAt: try row["stated_at"], revocationDate: try row["revocation_date"],
            appAccountToken: claim.appAccountToken, item: claim.item,
            position: UnclaimedPurchase.Position(
                transactionIdentifier: claim.transactionIdentifier, origin: claim.origin.rawValue,
                app: try row["app"]))
        return (purchase, claim)
    }
}

/// A purchase that the App Store has stated, and that nobody has redeemed.
package struct UnclaimedPurchase: Hashable, Sendable {
    package let transactionIdentifier: String
    package let originalTransactionIdentifier: String
    package let origin: Origin
    /// The bundle identifier of the app.
    package let app: String
    package let productIdentifier: String
    package let purchaseDate: Timestamp
    /// The date of the last statement.
    package let statedAt: Timestamp
    /// Nil if the App Store has not revoked it.
    package let revocationDate: Timestamp?
    /// The account token of the purchase, which no user has; nil without one.
    package let appAccountToken: UUID?
    /// The granted item; nil for another product.
    package let item: Item?
    /// The position in the list of all unclaimed purchases.
    package let position: Position

    /// The position of an unclaimed purchase: its transaction, its origin and the number of its app.
    package struct Position: Hashable, Sendable, CustomStringConvertible {
        let transactionIdentifier: String
        let origin: String
        let app: Int64

        package init(transactionIdentifier: String, origin: String, app: Int64) {
            self.transactionIdentifier = transactionIdentifier
            self.origin = origin
            self.app = app
        }

        /// - Returns: Nil for an invalid text.
        package init?(_ text: String) {
            let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, let app = Int64(parts[0]) else { return nil }
            self.init(transactionIdentifier: String(parts[2]), origin: String(parts[1]), app: app)
        }

        package var description: String { "\(app) \(origin) \(transactionIdentifier)" }
    }

    package init(
        transactionIdentifier: String,
        originalTransactionIdentifier: String,
        origin: Origin,
        app: String,
        productIdentifier: String,
        purchaseDate: Timestamp,
        statedAt: Timestamp,
        revocationDate: Timestamp?,
        appAccountToken: UUID?,
        item: Item?,
        position: Position
    ) {
        self.transactionIdentifier = transactionIdentifier
        self.originalTransactionIdentifier = originalTransactionIdentifier
        self.origin = origin
        self.app = app
        self.productIdentifier = productIdentifier
        self.purchaseDate = purchaseDate
        self.statedAt = statedAt
        self.revocationDate = revocationDate
        self.appAccountToken = appAccountToken
        self.item = item
        self.position = position
    }
}
