/// Signed renewal information of a subscription (App Store Server API, `JWSRenewalInfoDecodedPayload`).
public final class JWSRenewalInfoDecodedPayload: Sendable {
    public let originalTransactionId: String
    public let signedDate: Timestamp
    public let environment: String
    /// The other known fields, and the environment.
    public let facts: RenewalFacts
    /// All signed fields, known and unknown.
    public let fields: JSONObject

    init(_ fields: PayloadFields) throws(PayloadError) {
        // The end of a grace period decides what the customer owns.
        let fields = fields.deciding(["gracePeriodExpiresDate"])
        originalTransactionId = try fields.requiredString("originalTransactionId")
        signedDate = try fields.requiredDate("signedDate")
        environment = try fields.requiredString("environment")
        facts = try RenewalFacts(fields)
        self.fields = fields.object
    }
}
