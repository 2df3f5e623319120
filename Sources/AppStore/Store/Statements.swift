import Foundation
import Proofs

/// The fields of a payload that a store writes. Absent values are omitted, never null.
struct StatementFields {
    private(set) var object = JSONObject()

    mutating func set(_ key: String, _ value: JSONValue?) {
        if let value { _ = object.add(key, value) }
    }

    mutating func set(_ key: String, _ value: String?) { set(key, value.map { .string($0) }) }
    mutating func set(_ key: String, _ value: Bool?) { set(key, value.map { .bool($0) }) }
    mutating func set(_ key: String, _ value: (some BinaryInteger)?) { set(key, value.map { .integer($0) }) }
    /// Sets a date in milliseconds since 1970.
    mutating func set(_ key: String, _ value: Timestamp?) { set(key, value?.millisecondsSince1970) }
    /// Sets a UUID in lowercase.
    mutating func set(_ key: String, _ value: UUID?) { set(key, value?.uuidString.lowercased()) }

    mutating func set<Value: RawRepresentable>(_ key: String, _ value: Value?) where Value.RawValue == String {
        set(key, value?.rawValue)
    }

    mutating func set<Value: RawRepresentable>(_ key: String, _ value: Value?) where Value.RawValue == Int {
        set(key, value?.rawValue)
    }
}

/// The statement about the renewal of a subscription (App Store Server API, `JWSRenewalInfoDecodedPayload`).
struct RenewalInfoStatement {
    let originalTransactionIdentifier: String
    let productIdentifier: String
    let autoRenewProductIdentifier: String
    let autoRenewStatus: AutoRenewStatus
    /// The reason for the end of the subscription, past or coming. Nil if it renews.
    let expirationIntent: ExpirationIntent?
    /// True during billing retry. Nil if the subscription was charged.
    let isInBillingRetryPeriod: Bool?
    let gracePeriodExpiresDate: Timestamp?
    let priceIncreaseStatus: PriceIncreaseStatus?
    let offer: SubscriptionOffer?
    let eligibleWinBackOfferIdentifiers: [String]
    let recentSubscriptionStartDate: Timestamp
    /// The actual or missed renewal date. Nil if the subscription has ended.
    let renewalDate: Timestamp?
    let renewalPrice: Price?
    let appAccountToken: UUID?
    let appTransactionIdentifier: String
    let environment: AppStoreEnvironment

    func fields(signedAt signedDate: Timestamp) -> StatementFields {
        var fields = StatementFields()
        fields.set("expirationIntent", expirationIntent)
        fields.set("originalTransactionId", originalTransactionIdentifier)
        fields.set("autoRenewProductId", autoRenewProductIdentifier)
        fields.set("productId", productIdentifier)
        fields.set("autoRenewStatus", autoRenewStatus)
        fields.set("isInBillingRetryPeriod", isInBillingRetryPeriod)
        fields.set("priceIncreaseStatus", priceIncreaseStatus)
        fields.set("gracePeriodExpiresDate", gracePeriodExpiresDate)
        offer?.write(to: &fields)
        fields.set("signedDate", signedDate)
        fields.set("environment", environment)
        fields.set("recentSubscriptionStartDate", recentSubscriptionStartDate)
        fields.set("renewalDate", renewalDate)
        fields.set("currency", renewalPrice?.currency)
        fields.set("renewalPrice", renewalPrice?.milliunits)
        if !eligibleWinBackOfferIdentifiers.isEmpty {
            fields.set("eligibleWinBackOfferIds", .array(eligibleWinBackOfferIdentifiers.map { .string($0) }))
        }
        fields.set("appAccountToken", appAccountToken)
        fields.set("appTransactionId", appTransactionIdentifier)
        return fields
    }
}

/// The subject of a notification (App Store Server Notifications V2, `responseBodyV2DecodedPayload`).
enum NotificationStatement {
    case data(Data)
    case summary(Summary)

    /// A transaction and its subscription. A test notification has neither.
    struct Data {
        var signedTransaction: String?
        var signedRenewalInfo: String?
        var status: Status?
        var consumptionRequestReason: ConsumptionRequestReason?
    }

    /// An extension of the renewal dates of many subscriptions.
    struct Summary {
        let requestIdentifier: String
        let productIdentifier: String
        let storefrontCountryCodes: [String]
        let succeededCount: Int
        let failedCount: Int
    }
}

extension ProofIssuer {
    /// A signed transaction (App Store Server API, `JWSTransactionDecodedPayload`), in the compact form of JWS.
    func signedTransaction(_ transaction: Transaction, at moment: Timestamp) throws -> String {
        guard let storefront = Storefront(countryCode: transaction.storefrontCountryCode) else {
            throw StoreError.storefrontNotFound(transaction.storefrontCountryCode)
        }
        var fields = StatementFields()
        fields.set("transactionId", transaction.transactionIdentifier)
        fields.set("originalTransactionId", transaction.originalTransactionIdentifier)
        fields.set("webOrderLineItemId", transaction.webOrderLineItemIdentifier)
        fields.set("bundleId", bundleIdentifier)
        fields.set("productId", transaction.productIdentifier)
        fields.set("subscriptionGroupIdentifier", transaction.subscriptionGroupIdentifier)
        fields.set("purchaseDate", transaction.purchaseDate)
        fields.set("originalPurchaseDate", transaction.originalPurchaseDate)
        fields.set("expiresDate", transaction.expiresDate)
        fields.set("quantity", transaction.quantity)
        fields.set("type", transaction.type)
        fields.set("appAccountToken", transaction.appAccountToken)
        fields.set("inAppOwnershipType", transaction.ownership)
        fields.set("signedDate", moment)
        fields.set("revocationReason", transaction.revocation?.reason)
        fields.set("revocationDate", transaction.revocation?.date)
        fields.set("revocationType", transaction.revocation?.type)
        fields.set("isUpgraded", transaction.isUpgraded ? true : nil)
        transaction.offer?.write(to: &fields)
        fields.set("environment", environment)
        fields.set("transactionReason", transaction.reason)
        fields.set("storefront", storefront.countryCode)
        fields.set("storefrontId", storefront.identifier)
        fields.set("price", transaction.price.milliunits)
        fields.set("currency", transaction.price.currency)
        fields.set("appTransactionId", appTransactionIdentifier(of: transaction.account))
        return try sign(fields)
    }

    func signedNotification(
        _ type: NotificationTypeV2,
        _ subtype: Subtype?,
        _ notificationUUID: UUID,
        _ body: NotificationStatement,
        at moment: Timestamp
    ) throws -> String {
        var fields = StatementFields()
        fields.set("notificationType", type)
        fields.set("subtype", subtype)
        fields.set("notificationUUID", notificationUUID)
        switch body {
        case .data(let data): fields.set("data", .object(object(data)))
        case .summary(let summary): fields.set("summary", .object(object(summary)))
        }
        fields.set("version", "2.0")
        fields.set("signedDate", moment)
        return try sign(fields)
    }

    private func object(_ data: NotificationStatement.Data) -> JSONObject {
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

    private func object(_ summary: NotificationStatement.Summary) -> JSONObject {
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

/// The offer of a purchase.
extension SubscriptionOffer {
    func write(to fields: inout StatementFields) {
        fields.set("offerType", kind)
        fields.set("offerIdentifier", identifier)
        fields.set("offerDiscountType", discountType)
        fields.set("offerPeriod", period.description)
    }

    var isTrial: Bool { paymentMode == .freeTrial }
    var isIntroductoryPrice: Bool { kind == .introductory && !isTrial }
    var promotionalOfferIdentifier: String? { kind == .promotional ? identifier : nil }
    var offerCodeReferenceName: String? { kind == .offerCode ? identifier : nil }

    private var discountType: OfferDiscountType {
        switch paymentMode {
        case .freeTrial: .freeTrial
        case .payAsYouGo: .payAsYouGo
        case .payUpFront: .payUpFront
        }
    }
}
