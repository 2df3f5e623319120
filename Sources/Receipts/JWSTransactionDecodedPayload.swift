import Commerce
import StrictJSON

/// What a signed transaction says (App Store Server API, `JWSTransactionDecodedPayload`).
public struct JWSTransactionDecodedPayload: Hashable, Sendable {
    public let transactionId: String
    public let originalTransactionId: String
    public let bundleId: String
    public let productId: String
    public let purchaseDate: Timestamp
    public let originalPurchaseDate: Timestamp?
    public let expiresDate: Timestamp?
    public let quantity: Int
    /// The product's type in Apple's words; unknown ones are kept.
    public let type: String?
    public let environment: String
    public let signedDate: Timestamp
    public let revocationDate: Timestamp?
    /// Every field as it was signed, known or not.
    public let fields: JSONObject

    init(_ object: JSONObject) throws(PayloadError) {
        let fields = PayloadFields(object)
        transactionId = try fields.requiredString("transactionId")
        originalTransactionId = try fields.string("originalTransactionId") ?? transactionId
        bundleId = try fields.requiredString("bundleId")
        productId = try fields.requiredString("productId")
        purchaseDate = try fields.requiredDate("purchaseDate")
        originalPurchaseDate = try fields.date("originalPurchaseDate")
        expiresDate = try fields.date("expiresDate")
        let quantity = try fields.integer("quantity") ?? 1
        guard (1...Int64(Int32.max)).contains(quantity) else {
            throw PayloadError(message: "The field quantity is not positive.")
        }
        self.quantity = Int(quantity)
        type = try fields.string("type")
        environment = try fields.requiredString("environment")
        signedDate = try fields.requiredDate("signedDate")
        revocationDate = try fields.date("revocationDate")
        self.fields = object
    }
}
