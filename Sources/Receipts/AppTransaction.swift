import Commerce
import StrictJSON

/// What a signed app transaction says of the app's own purchase (StoreKit, `AppTransaction`).
public struct AppTransaction: Hashable, Sendable {
    public let bundleId: String
    /// The environment; the field is called `receiptType`.
    public let receiptType: String
    public let receiptCreationDate: Timestamp
    public let applicationVersion: String?
    public let originalApplicationVersion: String?
    /// Every field as it was signed, known or not.
    public let fields: JSONObject

    init(_ object: JSONObject) throws(PayloadError) {
        let fields = PayloadFields(object)
        bundleId = try fields.requiredString("bundleId")
        receiptType = try fields.requiredString("receiptType")
        receiptCreationDate = try fields.requiredDate("receiptCreationDate")
        applicationVersion = try fields.string("applicationVersion")
        originalApplicationVersion = try fields.string("originalApplicationVersion")
        self.fields = object
    }
}
