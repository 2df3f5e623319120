import Commerce
import StrictJSON

/// What a notification of the App Store says (App Store Server Notifications V2, `responseBodyV2DecodedPayload`).
public struct ResponseBodyV2DecodedPayload: Hashable, Sendable {
    public let notificationType: String
    public let subtype: String?
    public let notificationUUID: String
    public let signedDate: Timestamp
    /// From the one body the notification has: `data`, `summary`, `appData` or `externalPurchaseToken`.
    public let bundleId: String?
    public let environment: String
    /// Every field as it was signed, known or not.
    public let fields: JSONObject

    init(_ object: JSONObject) throws(PayloadError) {
        let fields = PayloadFields(object)
        notificationType = try fields.requiredString("notificationType")
        subtype = try fields.string("subtype")
        notificationUUID = try fields.requiredString("notificationUUID")
        signedDate = try fields.requiredDate("signedDate")
        self.fields = object
        for name in ["data", "summary", "appData"] {
            guard let body = try fields.object(name) else { continue }
            bundleId = try body.string("bundleId")
            environment = try body.requiredString("environment")
            return
        }
        guard let token = try fields.object("externalPurchaseToken") else {
            throw PayloadError(message: "None of data, summary, appData and externalPurchaseToken is there.")
        }
        bundleId = try token.string("bundleId")
        // The token names no environment but for this prefix of its id.
        let isSandbox = try token.requiredString("externalPurchaseId").hasPrefix("SANDBOX")
        environment = (isSandbox ? AppStoreEnvironment.sandbox : .production).rawValue
    }
}
