/// The subject of a notification: the field with its part about the app. Each notification has exactly one.
public enum NotificationSubject: String, Sendable, CaseIterable {
    /// One transaction.
    case data
    /// An extension of many subscriptions.
    case summary
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
        case .externalPurchaseToken:
            ["tokenCreationDate": .integer, "tokenExpirationDate": .integer, "tokenType": .text]
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

    /// The notification as JSON, without the nested proofs. The ledger stores their facts separately.
    public var contentWithoutProofs: String { contentWithoutProofs(of: nil) }

    /// The same with the only fact of a nested app transaction that the ledger needs.
    ///
    /// - Parameter appTransaction: The number of the app and the account (`appTransactionId`); nil for none.
    package func contentWithoutProofs(of appTransaction: String?) -> String {
        var content = JSONObject()
        for member in Self.withoutProofs(fields).members {
            var value = member.value
            if let appTransaction, member.key == subject.rawValue, case .object(var part) = value {
                _ = part.add("appTransactionId", .string(appTransaction))
                value = .object(part)
            }
            _ = content.add(member.key, value)
        }
        return JSONValue.object(content).compactText
    }

    private static func withoutProofs(_ object: JSONObject) -> JSONObject {
        var result = JSONObject()
        for member in object.members where !member.key.hasPrefix("signed") || member.key == "signedDate" {
            _ = result.add(member.key, withoutProofs(member.value))
        }
        return result
    }

    private static func withoutProofs(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let object): .object(withoutProofs(object))
        case .array(let elements): .array(elements.map(withoutProofs))
        case .string, .number, .bool, .null: value
        }
    }
}

/// The type of a notification (App Store Server Notifications V2, `notificationType`).
public enum NotificationTypeV2: String, Sendable, CaseIterable, Codable {
    case subscribed = "SUBSCRIBED"
    case didChangeRenewalPref = "DID_CHANGE_RENEWAL_PREF"
    case didChangeRenewalStatus = "DID_CHANGE_RENEWAL_STATUS"
    case offerRedeemed = "OFFER_REDEEMED"
    case didRenew = "DID_RENEW"
    case expired = "EXPIRED"
    case didFailToRenew = "DID_FAIL_TO_RENEW"
    case gracePeriodExpired = "GRACE_PERIOD_EXPIRED"
    case priceIncrease = "PRICE_INCREASE"
    case refund = "REFUND"
    case refundDeclined = "REFUND_DECLINED"
    case consumptionRequest = "CONSUMPTION_REQUEST"
    case renewalExtended = "RENEWAL_EXTENDED"
    case revoke = "REVOKE"
    case test = "TEST"
    case renewalExtension = "RENEWAL_EXTENSION"
    case refundReversed = "REFUND_REVERSED"
    case externalPurchaseToken = "EXTERNAL_PURCHASE_TOKEN"
    case oneTimeCharge = "ONE_TIME_CHARGE"
    case rescindConsent = "RESCIND_CONSENT"
    case metadataUpdate = "METADATA_UPDATE"
    case migration = "MIGRATION"
    case priceChange = "PRICE_CHANGE"
    case unclaimSeats = "UNCLAIM_SEATS"
}

/// The subtype of a notification (App Store Server Notifications V2, `subtype`).
public enum Subtype: String, Sendable, CaseIterable, Codable {
    case initialBuy = "INITIAL_BUY"
    case resubscribe = "RESUBSCRIBE"
    case downgrade = "DOWNGRADE"
    case upgrade = "UPGRADE"
    case autoRenewEnabled = "AUTO_RENEW_ENABLED"
    case autoRenewDisabled = "AUTO_RENEW_DISABLED"
    case voluntary = "VOLUNTARY"
    case billingRetry = "BILLING_RETRY"
    case priceIncrease = "PRICE_INCREASE"
    case gracePeriod = "GRACE_PERIOD"
    case pending = "PENDING"
    case accepted = "ACCEPTED"
    case billingRecovery = "BILLING_RECOVERY"
    case productNotForSale = "PRODUCT_NOT_FOR_SALE"
    case summary = "SUMMARY"
    case failure = "FAILURE"
    case unreported = "UNREPORTED"
    case created = "CREATED"
    case activeTokenReminder = "ACTIVE_TOKEN_REMINDER"
    /// Of a refund of some seats. The transaction stays valid for the others.
    case seats = "SEATS"
    case increaseQuantity = "INCREASE_QUANTITY"
    case decreaseQuantity = "DECREASE_QUANTITY"

    /// The types that the subtype applies to.
    package var types: [NotificationTypeV2] {
        switch self {
        case .initialBuy, .resubscribe: [.subscribed]
        case .upgrade, .downgrade: [.didChangeRenewalPref, .offerRedeemed]
        case .autoRenewEnabled, .autoRenewDisabled: [.didChangeRenewalStatus]
        case .billingRecovery: [.didRenew]
        case .voluntary, .billingRetry, .priceIncrease, .productNotForSale: [.expired]
        case .gracePeriod: [.didFailToRenew]
        case .pending, .accepted: [.priceIncrease]
        case .summary, .failure: [.renewalExtension]
        case .unreported, .created, .activeTokenReminder: [.externalPurchaseToken]
        case .seats: [.refund]
        case .increaseQuantity, .decreaseQuantity: [.didChangeRenewalPref]
        }
    }
}

/// The customer's reason for a refund request (App Store Server Notifications V2, `consumptionRequestReason`).
public enum ConsumptionRequestReason: String, Sendable, CaseIterable, Codable {
    case unintendedPurchase = "UNINTENDED_PURCHASE"
    case fulfillmentIssue = "FULFILLMENT_ISSUE"
    case unsatisfiedWithPurchase = "UNSATISFIED_WITH_PURCHASE"
    case legal = "LEGAL"
    case other = "OTHER"
}

/// The result of an attempt to send a notification (App Store Server API, `sendAttemptResult`).
public enum SendAttemptResult: String, Sendable, CaseIterable, Codable {
    case success = "SUCCESS"
    case timedOut = "TIMED_OUT"
    case tlsIssue = "TLS_ISSUE"
    case circularRedirect = "CIRCULAR_REDIRECT"
    case noResponse = "NO_RESPONSE"
    case socketIssue = "SOCKET_ISSUE"
    case unsupportedCharset = "UNSUPPORTED_CHARSET"
    case invalidResponse = "INVALID_RESPONSE"
    case prematureClose = "PREMATURE_CLOSE"
    case unsuccessfulHTTPResponseCode = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
    case other = "OTHER"
}
