import Foundation

/// A signed app transaction: the purchase of the app itself (StoreKit, `AppTransaction`).
public final class AppTransaction: Sendable {
    public let bundleId: String
    /// The environment. App transactions use this field name.
    public let receiptType: String
    public let receiptCreationDate: Timestamp
    public let appAppleId: Int64?
    public let applicationVersion: String?
    public let versionExternalIdentifier: Int64?
    public let originalPurchaseDate: Timestamp?
    public let originalApplicationVersion: String?
    public let deviceVerification: String?
    public let deviceVerificationNonce: UUID?
    public let preorderDate: Timestamp?
    public let appTransactionId: String?
    public let originalPlatform: OpenEnumeration<PurchasePlatform>?
    /// All signed fields, known and unknown.
    public let fields: JSONObject

    init(_ fields: PayloadFields) throws(PayloadError) {
        let fields = fields.deciding(["appAppleId"])
        bundleId = try fields.requiredString("bundleId")
        receiptType = try fields.requiredString("receiptType")
        receiptCreationDate = try fields.requiredDate("receiptCreationDate")
        appAppleId = try fields.integer("appAppleId")
        applicationVersion = try fields.string("applicationVersion")
        versionExternalIdentifier = try fields.integer("versionExternalIdentifier")
        originalPurchaseDate = try fields.date("originalPurchaseDate")
        originalApplicationVersion = try fields.string("originalApplicationVersion")
        deviceVerification = try fields.string("deviceVerification")
        deviceVerificationNonce = try fields.uuid("deviceVerificationNonce")
        preorderDate = try fields.date("preorderDate")
        appTransactionId = try fields.string("appTransactionId")
        originalPlatform = try fields.enumeration("originalPlatform")
        self.fields = fields.object
    }
}
