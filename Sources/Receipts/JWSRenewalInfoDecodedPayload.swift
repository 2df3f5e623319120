import Commerce
import StrictJSON

/// What signed renewal information says of a subscription (App Store Server API, `JWSRenewalInfoDecodedPayload`).
public struct JWSRenewalInfoDecodedPayload: Hashable, Sendable {
    public let originalTransactionId: String
    public let productId: String?
    public let autoRenewProductId: String?
    public let environment: String
    public let signedDate: Timestamp
    /// Every field as it was signed, known or not.
    public let fields: JSONObject

    init(_ object: JSONObject) throws(PayloadError) {
        let fields = PayloadFields(object)
        originalTransactionId = try fields.requiredString("originalTransactionId")
        productId = try fields.string("productId")
        autoRenewProductId = try fields.string("autoRenewProductId")
        environment = try fields.requiredString("environment")
        signedDate = try fields.requiredDate("signedDate")
        self.fields = object
    }
}
