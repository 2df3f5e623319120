import Commerce
import Foundation

/// A purchase that the App Store has stated, and that nobody has redeemed.
public struct UnclaimedPurchase: Hashable, Sendable {
    public let transactionIdentifier: String
    public let originalTransactionIdentifier: String
    public let origin: Origin
    /// The bundle identifier of the app.
    public let app: String
    public let productIdentifier: String
    public let purchaseDate: Timestamp
    /// The date of the last statement.
    public let statedAt: Timestamp
    /// Nil if the App Store has not taken it back.
    public let revocationDate: Timestamp?
    /// The token in the purchase, which no user has; nil without one.
    public let appAccountToken: UUID?
    /// The item that it grants; nil for another product.
    public let item: Item?

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
        item: Item?
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
    }
}
