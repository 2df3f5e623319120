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
