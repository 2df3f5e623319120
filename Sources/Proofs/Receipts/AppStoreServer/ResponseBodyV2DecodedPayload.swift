import Foundation

/// The subject of a notification: the field with its part about the app. Each notification has exactly one.
public enum NotificationSubject: String, Sendable, CaseIterable {
    /// One transaction.
    case data
    /// An extension of many subscriptions.
    case summary
    /// The app.
    case appData
    /// A purchase outside the App Store.
    case externalPurchaseToken
    /// Seats that the App Store has unclaimed. They are claims of the app's server, and their members have no transactions.
    case unclaimInfo

    /// The fields of a nested JWS, each with its required kind.
    var signedFields: [(name: String, kind: ProofInspection.Kind)] {
        switch self {
        case .data: [("signedTransactionInfo", .transaction), ("signedRenewalInfo", .renewalInfo)]
        case .appData: [("signedAppTransactionInfo", .appTransaction)]
        case .summary, .externalPurchaseToken, .unclaimInfo: []
        }
    }

    /// The optional fields that are an error in another form.
    fileprivate var decidingFields: Set<String> {
        let app: Set = ["appAppleId", "bundleId"]
        return switch self {
        // Without its transaction or its renewal, a notification would be answered and lost.
        case .data: app.union(signedFields.map(\.name))
        case .unclaimInfo: app.union(["environment"])
        case .summary, .appData, .externalPurchaseToken: app
        }
    }

    /// The fields besides the app, the environment and the nested JWS.
    package var otherFields: [String: PayloadForm] {
        switch self {
        case .data: ["bundleVersion": .text, "status": .integer, "consumptionRequestReason": .text]
        case .summary:
            [
                "productId": .text, "requestIdentifier": .text, "storefrontCountryCodes": .texts,
                "succeededCount": .integer, "failedCount": .integer,
            ]
        case .appData: [:]
        case .externalPurchaseToken: ["tokenCreationDate": .integer]
        case .unclaimInfo: ["unclaimSeatIds": .texts]
        }
    }

    /// The environment that the part states.
    fileprivate func environment(in part: PayloadFields) throws(ProofRefusal) -> String {
        switch self {
        case .data, .summary, .appData: return try part.requiredString("environment")
        case .externalPurchaseToken:
            // In the sandbox the identifier begins so. No other field gives the environment.
            let isSandbox = try part.requiredString("externalPurchaseId").hasPrefix("SANDBOX")
            return (isSandbox ? AppStoreEnvironment.sandbox : .production).rawValue
        // Apple documents no environment here.
        case .unclaimInfo: return try part.string("environment") ?? AppStoreEnvironment.production.rawValue
        }
    }
}

/// A notification of the App Store (App Store Server Notifications V2, `responseBodyV2DecodedPayload`).
public final class ResponseBodyV2DecodedPayload: Sendable {
    /// The type, such as a `NotificationTypeV2`.
    public let notificationType: String
    /// The subtype, such as a `Subtype`.
    public let subtype: String?
    public let notificationUUID: String
    public let version: String?
    public let signedDate: Timestamp
    public let subject: NotificationSubject
    public let environment: String
    public let appAppleId: Int64?
    public let bundleId: String?
    /// The nested JWS of the notification, each with its field and its required kind.
    let signedParts: [(field: String, kind: ProofInspection.Kind, compact: String)]
    /// All signed fields, known and unknown.
    public let fields: JSONObject

    init(_ fields: PayloadFields) throws(ProofRefusal) {
        let fields = fields.deciding(Set(NotificationSubject.allCases.map(\.rawValue)))
        notificationType = try fields.requiredString("notificationType")
        subtype = try fields.string("subtype")
        notificationUUID = try fields.requiredString("notificationUUID")
        version = try fields.string("version")
        signedDate = try fields.requiredDate("signedDate")
        self.fields = fields.object
        let (subject, part) = try Self.part(of: fields)
        self.subject = subject
        environment = try subject.environment(in: part)
        appAppleId = try part.integer("appAppleId")
        bundleId = try part.string("bundleId")
        var signedParts: [(field: String, kind: ProofInspection.Kind, compact: String)] = []
        for (name, kind) in subject.signedFields {
            if let compact = try part.string(name) { signedParts.append((name, kind, compact)) }
        }
        self.signedParts = signedParts
        try part.check(subject.otherFields)
    }

    private static func part(
        of fields: PayloadFields
    ) throws(ProofRefusal) -> (subject: NotificationSubject, part: PayloadFields) {
        for subject in NotificationSubject.allCases {
            guard let part = try fields.object(subject.rawValue) else { continue }
            return (subject, part.deciding(subject.decidingFields))
        }
        throw ProofRefusal(
            .payloadInvalid, "One of data, summary, appData, externalPurchaseToken and unclaimInfo must be present.")
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
    /// The platform of the original purchase, such as a `PurchasePlatform`.
    public let originalPlatform: String?
    /// All signed fields, known and unknown.
    public let fields: JSONObject

    init(_ fields: PayloadFields) throws(ProofRefusal) {
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
        originalPlatform = try fields.string("originalPlatform")
        self.fields = fields.object
    }
}
