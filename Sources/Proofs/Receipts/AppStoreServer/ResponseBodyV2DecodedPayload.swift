import Foundation

/// A notification of the App Store (App Store Server Notifications V2, `responseBodyV2DecodedPayload`).
public final class ResponseBodyV2DecodedPayload: Sendable {
    /// The subject of the notification. Each notification has exactly one.
    public enum Body: Sendable {
        case data(NotificationData)
        case summary(Summary)
        case appData(AppData)
        case externalPurchaseToken(ExternalPurchaseToken)
        case unclaimInfo(UnclaimInfo)
    }

    public let notificationType: OpenEnumeration<NotificationTypeV2>
    public let subtype: OpenEnumeration<Subtype>?
    public let notificationUUID: String
    public let version: String?
    public let signedDate: Timestamp
    public let body: Body
    /// All signed fields, known and unknown.
    public let fields: JSONObject

    init(_ fields: PayloadFields) throws(PayloadError) {
        let fields = fields.deciding(["data", "summary", "appData", "externalPurchaseToken", "unclaimInfo"])
        notificationType = try fields.requiredEnumeration("notificationType")
        subtype = try fields.enumeration("subtype")
        notificationUUID = try fields.requiredString("notificationUUID")
        version = try fields.string("version")
        signedDate = try fields.requiredDate("signedDate")
        self.fields = fields.object
        if let data = try fields.object("data") {
            body = .data(try NotificationData(data))
        } else if let summary = try fields.object("summary") {
            body = .summary(try Summary(summary))
        } else if let appData = try fields.object("appData") {
            body = .appData(try AppData(appData))
        } else if let token = try fields.object("externalPurchaseToken") {
            body = .externalPurchaseToken(try ExternalPurchaseToken(token))
        } else if let info = try fields.object("unclaimInfo") {
            body = .unclaimInfo(try UnclaimInfo(info))
        } else {
            throw PayloadError(
                message: "One of data, summary, appData, externalPurchaseToken and unclaimInfo must be present.")
        }
    }

    private var part: any NotificationPart {
        switch body {
        case .data(let data): data
        case .summary(let summary): summary
        case .appData(let appData): appData
        case .externalPurchaseToken(let token): token
        case .unclaimInfo(let info): info
        }
    }

    public var bundleId: String? { part.bundleId }

    public var appAppleId: Int64? { part.appAppleId }

    public var environment: String { part.environment }

    /// The nested JWS of the notification, each with its field and its required kind.
    var signedParts: [(field: String, kind: SignedPayload.Kind, compact: String)] {
        switch body {
        case .data(let data):
            [
                data.signedTransactionInfo.map { ("signedTransactionInfo", .transaction, $0) },
                data.signedRenewalInfo.map { ("signedRenewalInfo", .renewalInfo, $0) },
            ].compactMap(\.self)
        case .appData(let appData):
            [appData.signedAppTransactionInfo.map { ("signedAppTransactionInfo", .appTransaction, $0) }].compactMap(
                \.self)
        case .summary, .externalPurchaseToken, .unclaimInfo: []
        }
    }
}

extension ResponseBodyV2DecodedPayload {
    /// The notification as JSON, without the nested proofs. The ledger stores their facts separately.
    public var contentWithoutProofs: String {
        JSONValue.object(Self.withoutProofs(fields)).compactText
    }

    private static func withoutProofs(_ object: JSONObject) -> JSONObject {
        var result = JSONObject()
        for member in object.members where !member.key.hasPrefix("signed") || member.key == "signedDate" {
            if case .object(let inner) = member.value {
                _ = result.add(member.key, .object(withoutProofs(inner)))
            } else {
                _ = result.add(member.key, member.value)
            }
        }
        return result
    }
}

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
