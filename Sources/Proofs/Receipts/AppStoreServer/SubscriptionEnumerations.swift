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

/// The billing plan of the next period (App Store Server API, `renewalBillingPlanType`).
public enum RenewalBillingPlanType: String, Sendable, CaseIterable, Codable {
    case billedUpfront = "BILLED_UPFRONT"
    case monthly = "MONTHLY"
}
