import Proofs

/// A message in the format of RevenueCat's webhooks.
package struct RevenueCatEvent: Hashable, Sendable {
    /// The type of an event. The audit log has no event for the other types of RevenueCat.
    package enum Kind: String, Sendable, CaseIterable {
        case initialPurchase = "INITIAL_PURCHASE"
        case renewal = "RENEWAL"
        case nonRenewingPurchase = "NON_RENEWING_PURCHASE"
        case cancellation = "CANCELLATION"
        case uncancellation = "UNCANCELLATION"
        case billingIssue = "BILLING_ISSUE"
        case expiration = "EXPIRATION"
        case productChange = "PRODUCT_CHANGE"
        case refundReversed = "REFUND_REVERSED"
        case transfer = "TRANSFER"
    }

    /// The reason for a cancellation or an expiration.
    enum Reason: String, Sendable {
        case unsubscribe = "UNSUBSCRIBE"
        case billingError = "BILLING_ERROR"
        case developerInitiated = "DEVELOPER_INITIATED"
        case priceIncrease = "PRICE_INCREASE"
        case customerSupport = "CUSTOMER_SUPPORT"
        case unknown = "UNKNOWN"
    }

    package let kind: Kind
    /// The members of `event`, in the order of their names.
    let members: JSONObject

    /// The body of the message as JSON.
    package var text: String {
        JSONValue.object(["api_version": "1.0", "event": .object(members)]).compactText
    }
}
