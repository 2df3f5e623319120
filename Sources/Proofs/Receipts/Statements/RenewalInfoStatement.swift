import Foundation

/// A store's statement about the renewal of a subscription (App Store Server API, `JWSRenewalInfoDecodedPayload`).
public struct RenewalInfoStatement: Sendable {
    public var originalTransactionIdentifier: String
    public var productIdentifier: String
    public var autoRenewProductIdentifier: String
    public var autoRenewStatus: AutoRenewStatus
    /// The reason for the end of the subscription, past or coming. Nil if it renews.
    public var expirationIntent: ExpirationIntent?
    /// True during billing retry. Nil if the subscription was charged.
    public var isInBillingRetryPeriod: Bool?
    public var gracePeriodExpiresDate: Timestamp?
    public var priceIncreaseStatus: PriceIncreaseStatus?
    public var offer: OfferStatement?
    public var eligibleWinBackOfferIdentifiers: [String]
    public var recentSubscriptionStartDate: Timestamp
    /// The actual or missed renewal date. Nil if the subscription has ended.
    public var renewalDate: Timestamp?
    public var renewalPrice: Price?
    public var appAccountToken: UUID?
    public var appTransactionIdentifier: String
    public var environment: AppStoreEnvironment

    public init(
        originalTransactionIdentifier: String,
        productIdentifier: String,
        autoRenewProductIdentifier: String,
        autoRenewStatus: AutoRenewStatus,
        expirationIntent: ExpirationIntent?,
        isInBillingRetryPeriod: Bool?,
        gracePeriodExpiresDate: Timestamp?,
        priceIncreaseStatus: PriceIncreaseStatus?,
        offer: OfferStatement?,
        eligibleWinBackOfferIdentifiers: [String],
        recentSubscriptionStartDate: Timestamp,
        renewalDate: Timestamp?,
        renewalPrice: Price?,
        appAccountToken: UUID?,
        appTransactionIdentifier: String,
        environment: AppStoreEnvironment
    ) {
        self.originalTransactionIdentifier = originalTransactionIdentifier
        self.productIdentifier = productIdentifier
        self.autoRenewProductIdentifier = autoRenewProductIdentifier
        self.autoRenewStatus = autoRenewStatus
        self.expirationIntent = expirationIntent
        self.isInBillingRetryPeriod = isInBillingRetryPeriod
        self.gracePeriodExpiresDate = gracePeriodExpiresDate
        self.priceIncreaseStatus = priceIncreaseStatus
        self.offer = offer
        self.eligibleWinBackOfferIdentifiers = eligibleWinBackOfferIdentifiers
        self.recentSubscriptionStartDate = recentSubscriptionStartDate
        self.renewalDate = renewalDate
        self.renewalPrice = renewalPrice
        self.appAccountToken = appAccountToken
        self.appTransactionIdentifier = appTransactionIdentifier
        self.environment = environment
    }

    public func statement(at signedDate: Timestamp) -> SignedStatement {
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
        return SignedStatement(fields: fields.object)
    }
}
