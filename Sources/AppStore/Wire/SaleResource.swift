/// A sale with the field names of signed transactions.
package struct SaleResource: Codable, Sendable {
    package let transactionId: String
    package let originalTransactionId: String
    package let orderId: String
    package let account: String
    package let productId: String
    package let type: String
    package let quantity: Int
    /// Dates are RFC 3339, UTC.
    package let purchaseDate: String
    package var expiresDate: String?
    /// The price in milliunits of the currency.
    package let price: Int64
    /// ISO 4217.
    package let currency: String
    package var revocationDate: String?
    package let isUpgraded: Bool
}
