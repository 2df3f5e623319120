/// A question of the App Store for a retention message, which it asks while a customer may cancel a subscription (Retention Messaging API,
/// `DecodedRealtimeRequestBody`).
public final class DecodedRealtimeRequestBody: Sendable {
    public let originalTransactionId: String
    /// The number of the app. The question names no bundle identifier.
    public let appAppleId: Int64
    public let productId: String
    /// The customer's locale, such as `en-US`.
    public let userLocale: String
    public let requestIdentifier: String
    public let environment: String
    public let signedDate: Timestamp

    init(_ fields: PayloadFields) throws(ProofRefusal) {
        originalTransactionId = try fields.requiredString("originalTransactionId")
        appAppleId = try fields.requiredInteger("appAppleId")
        productId = try fields.requiredString("productId")
        userLocale = try fields.requiredString("userLocale")
        requestIdentifier = try fields.requiredString("requestIdentifier")
        environment = try fields.requiredString("environment")
        signedDate = try fields.requiredDate("signedDate")
    }
}
