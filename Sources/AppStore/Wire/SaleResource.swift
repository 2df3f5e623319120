/// A sale with the field names of signed transactions.
public struct SaleResource: Codable, Sendable {
    public let transactionId: String
    public let originalTransactionId: String
    public let orderId: String
    public let account: String
    public let productId: String
    public let type: String
    public let quantity: Int
    /// Dates are RFC 3339, UTC.
    public let purchaseDate: String
    public let expiresDate: String?
    /// The price in milliunits of the currency.
    public let price: Int64
    /// ISO 4217.
    public let currency: String
    public let revocationDate: String?
    public let isUpgraded: Bool

    public init(
        transactionId: String,
        originalTransactionId: String,
        orderId: String,
        account: String,
        productId: String,
        type: String,
        quantity: Int,
        purchaseDate: String,
        expiresDate: String? = nil,
        price: Int64,
        currency: String,
        revocationDate: String? = nil,
        isUpgraded: Bool
    ) {
        self.transactionId = transactionId
        self.originalTransactionId = originalTransactionId
        self.orderId = orderId
        self.account = account
        self.productId = productId
        self.type = type
        self.quantity = quantity
        self.purchaseDate = purchaseDate
        self.expiresDate = expiresDate
        self.price = price
        self.currency = currency
        self.revocationDate = revocationDate
        self.isUpgraded = isUpgraded
    }
}
