import Foundation

/// A store's statement in a notification (App Store Server Notifications V2, `responseBodyV2DecodedPayload`).
public struct NotificationStatement: Sendable {
    /// The subject of the notification.
    public enum Body: Sendable {
        case data(Data)
        case summary(Summary)
    }

    /// A transaction and its subscription. A test notification has neither.
    public struct Data: Sendable {
        public let signedTransaction: String?
        public let signedRenewalInfo: String?
        public let status: Status?
        public let consumptionRequestReason: ConsumptionRequestReason?

        public init(
            signedTransaction: String? = nil,
            signedRenewalInfo: String? = nil,
            status: Status? = nil,
            consumptionRequestReason: ConsumptionRequestReason? = nil
        ) {
            self.signedTransaction = signedTransaction
            self.signedRenewalInfo = signedRenewalInfo
            self.status = status
            self.consumptionRequestReason = consumptionRequestReason
        }
    }

    /// An extension of the renewal dates of many subscriptions.
    public struct Summary: Sendable {
        public let requestIdentifier: String
        public let productIdentifier: String
        public let storefrontCountryCodes: [String]
        public let succeededCount: Int
        public let failedCount: Int

        public init(
            requestIdentifier: String,
            productIdentifier: String,
            storefrontCountryCodes: [String],
            succeededCount: Int,
            failedCount: Int
        ) {
            self.requestIdentifier = requestIdentifier
            self.productIdentifier = productIdentifier
            self.storefrontCountryCodes = storefrontCountryCodes
            self.succeededCount = succeededCount
            self.failedCount = failedCount
        }
    }

    public let type: NotificationTypeV2
    public let subtype: Subtype?
    public let notificationUUID: UUID
    public let bundleIdentifier: String
    /// The app's Apple ID. Nil in the sandbox.
    public let appAppleIdentifier: Int64?
    public let environment: AppStoreEnvironment
    public let body: Body

    public init(
        type: NotificationTypeV2,
        subtype: Subtype?,
        notificationUUID: UUID,
        bundleIdentifier: String,
        appAppleIdentifier: Int64? = nil,
        environment: AppStoreEnvironment,
        body: Body
    ) {
        self.type = type
        self.subtype = subtype
        self.notificationUUID = notificationUUID
        self.bundleIdentifier = bundleIdentifier
        self.appAppleIdentifier = appAppleIdentifier
        self.environment = environment
        self.body = body
    }

    public func statement(at signedDate: Timestamp) -> SignedStatement {
        var fields = StatementFields()
        fields.set("notificationType", type)
        fields.set("subtype", subtype)
        fields.set("notificationUUID", notificationUUID)
        switch body {
        case .data(let data): fields.set("data", .object(object(data)))
        case .summary(let summary): fields.set("summary", .object(object(summary)))
        }
        fields.set("version", "2.0")
        fields.set("signedDate", signedDate)
        return SignedStatement(fields: fields.object)
    }

    private func object(_ data: Data) -> JSONObject {
        var fields = StatementFields()
        fields.set("appAppleId", appAppleIdentifier)
        fields.set("bundleId", bundleIdentifier)
        fields.set("bundleVersion", "1")
        fields.set("environment", environment)
        fields.set("signedTransactionInfo", data.signedTransaction)
        fields.set("signedRenewalInfo", data.signedRenewalInfo)
        fields.set("status", data.status)
        fields.set("consumptionRequestReason", data.consumptionRequestReason)
        return fields.object
    }

    private func object(_ summary: Summary) -> JSONObject {
        var fields = StatementFields()
        fields.set("environment", environment)
        fields.set("appAppleId", appAppleIdentifier)
        fields.set("bundleId", bundleIdentifier)
        fields.set("productId", summary.productIdentifier)
        fields.set("requestIdentifier", summary.requestIdentifier)
        if !summary.storefrontCountryCodes.isEmpty {
            fields.set("storefrontCountryCodes", .array(summary.storefrontCountryCodes.map { .string($0) }))
        }
        fields.set("succeededCount", summary.succeededCount)
        fields.set("failedCount", summary.failedCount)
        return fields.object
    }
}
