/// The progress of a commitment of several billing periods (`commitmentInfo` of a transaction). The ledger keeps its
/// JSON.
struct TransactionCommitmentInfo: PayloadObject {
    init(_ fields: PayloadFields) throws(PayloadError) {
        try fields.check([
            .optional("billingPeriodNumber", .integer), .optional("commitmentExpiresDate", .date),
            .optional("commitmentPrice", .integer), .optional("totalBillingPeriods", .integer),
        ])
    }
}

/// The continuation of a commitment of several billing periods (`commitmentInfo` of renewal information; price in
/// milliunits).
public final class RenewalCommitmentInfo: PayloadObject {
    public let commitmentAutoRenewProductId: String?
    public let commitmentAutoRenewStatus: OpenEnumeration<AutoRenewStatus>?
    public let commitmentRenewalBillingPlanType: OpenEnumeration<RenewalBillingPlanType>?
    public let commitmentRenewalDate: Timestamp?
    public let commitmentRenewalPrice: Int64?

    init(_ fields: PayloadFields) throws(PayloadError) {
        commitmentAutoRenewProductId = try fields.string("commitmentAutoRenewProductId")
        commitmentAutoRenewStatus = try fields.enumeration("commitmentAutoRenewStatus")
        commitmentRenewalBillingPlanType = try fields.enumeration("commitmentRenewalBillingPlanType")
        commitmentRenewalDate = try fields.date("commitmentRenewalDate")
        commitmentRenewalPrice = try fields.integer("commitmentRenewalPrice")
    }
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

/// The billing plan of the next period (App Store Server API, `renewalBillingPlanType`).
public enum RenewalBillingPlanType: String, Sendable, CaseIterable, Codable {
    case billedUpfront = "BILLED_UPFRONT"
    case monthly = "MONTHLY"
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
