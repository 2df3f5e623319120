/// The customer's relationship to a purchase (App Store Server API, `inAppOwnershipType`).
public enum InAppOwnershipType: String, Sendable, CaseIterable, Codable {
    case familyShared = "FAMILY_SHARED"
    case purchased = "PURCHASED"
    /// A seat of a purchase that another customer has paid for.
    case assigned = "ASSIGNED"
}

/// The reason for a revocation (App Store Server API, `revocationReason`).
public enum RevocationReason: Int, Sendable, CaseIterable, Codable {
    case refundedForOtherReason = 0
    case refundedDueToIssue = 1
}

/// The extent of a revocation (App Store Server API, `revocationType`).
public enum RevocationType: String, Sendable, CaseIterable, Codable {
    case refundFull = "REFUND_FULL"
    case refundProrated = "REFUND_PRORATED"
    case familyRevoke = "FAMILY_REVOKE"
    /// The end of a member's seat. Apple has published StoreKit's name alone (`assignmentRevocation`).
    case assignmentRevoke = "ASSIGNMENT_REVOKE"
}

/// The payment mode of an offer (App Store Server API, `offerDiscountType`).
public enum OfferDiscountType: String, Sendable, CaseIterable, Codable {
    case freeTrial = "FREE_TRIAL"
    case payAsYouGo = "PAY_AS_YOU_GO"
    case payUpFront = "PAY_UP_FRONT"
    case oneTime = "ONE_TIME"
}

/// The reason why several transactions represent one period (App Store Server API, `additionalTransactionReason`).
public enum AdditionalTransactionReason: String, Sendable, CaseIterable, Codable {
    case seatAddition = "SEAT_ADDITION"
}

/// The cause of a transaction (App Store Server API, `transactionReason`).
public enum TransactionReason: String, Sendable, CaseIterable, Codable {
    case purchase = "PURCHASE"
    case renewal = "RENEWAL"
}

/// The renewal setting of a subscription (App Store Server API, `autoRenewStatus`).
public enum AutoRenewStatus: Int, Sendable, CaseIterable, Codable {
    case off = 0
    case on = 1
}

/// The reason for the expiration of a subscription (App Store Server API, `expirationIntent`).
public enum ExpirationIntent: Int, Sendable, CaseIterable, Codable {
    case customerCancelled = 1
    case billingError = 2
    case customerDidNotConsentToPriceIncrease = 3
    case productNotAvailable = 4
    case other = 5
}

/// The customer's response to a price increase (App Store Server API, `priceIncreaseStatus`).
public enum PriceIncreaseStatus: Int, Sendable, CaseIterable, Codable {
    case customerHasNotResponded = 0
    case customerConsentedOrWasNotifiedWithoutNeedingConsent = 1
}

/// The status of a subscription (App Store Server API, `status`).
public enum Status: Int, Sendable, CaseIterable, Codable {
    case active = 1
    case expired = 2
    case billingRetry = 3
    case billingGracePeriod = 4
    case revoked = 5
}

/// The delivery of a purchase to the customer (App Store Server API, `deliveryStatus`).
public enum DeliveryStatus: String, Sendable, CaseIterable, Codable {
    case delivered = "DELIVERED"
    case undeliveredQualityIssue = "UNDELIVERED_QUALITY_ISSUE"
    case undeliveredWrongItem = "UNDELIVERED_WRONG_ITEM"
    case undeliveredServerOutage = "UNDELIVERED_SERVER_OUTAGE"
    case undeliveredOther = "UNDELIVERED_OTHER"
}

/// The developer's preference for a refund request (App Store Server API, `refundPreference`).
public enum RefundPreference: String, Sendable, CaseIterable, Codable {
    case decline = "DECLINE"
    case grantFull = "GRANT_FULL"
    case grantProrated = "GRANT_PRORATED"
}
