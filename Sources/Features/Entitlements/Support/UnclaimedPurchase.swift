import Foundation
import Proofs

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
