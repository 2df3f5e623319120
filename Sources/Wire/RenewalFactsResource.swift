/// The last facts that the App Store has stated about a subscription's renewal, in Apple's words. Facts that it has not
/// stated are nil.
public struct RenewalFactsResource: Codable, Sendable {
    /// `Production`, `Sandbox`, `Xcode` or `LocalTesting`.
    public let environment: String?
    public let productId: String?
    /// The product of the next period.
    public let autoRenewProductId: String?
    /// 1 if the subscription renews, 0 if the customer has turned off renewal.
    public let autoRenewStatus: Int64?
    /// 1 cancelled, 2 billing error, 3 no consent to a price increase, 4 product not available, 5 other.
    public let expirationIntent: Int64?
    public let isInBillingRetryPeriod: Bool?
    /// RFC 3339, UTC, like the other dates.
    public let gracePeriodExpiresDate: String?
    /// 0 if the customer has not responded, 1 after the consent.
    public let priceIncreaseStatus: Int64?
    public let renewalDate: String?
    /// The price in milliunits of the currency, of one seat on average.
    public let renewalPrice: Int64?
    /// The number of seats.
    public let renewalQuantity: Int64?
    /// ISO 4217.
    public let currency: String?
    /// 1 introductory, 2 promotional, 3 offer code, 4 win-back.
    public let offerType: Int64?
    public let offerIdentifier: String?
    /// `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT` or `ONE_TIME`.
    public let offerDiscountType: String?
    /// ISO 8601, such as `P1M`.
    public let offerPeriod: String?
    public let recentSubscriptionStartDate: String?
    public let eligibleWinBackOfferIds: [String]?
    public let appAccountToken: String?
    public let appTransactionId: String?
    /// `BILLED_UPFRONT` or `MONTHLY`.
    public let renewalBillingPlanType: String?
    public let commitmentInfo: JSONContent?
    public let advancedCommerceInfo: JSONContent?
    public let multiSeatInfo: JSONContent?

    public init(
        environment: String? = nil,
        productId: String? = nil,
        autoRenewProductId: String? = nil,
        autoRenewStatus: Int64? = nil,
        expirationIntent: Int64? = nil,
        isInBillingRetryPeriod: Bool? = nil,
        gracePeriodExpiresDate: String? = nil,
        priceIncreaseStatus: Int64? = nil,
        renewalDate: String? = nil,
        renewalPrice: Int64? = nil,
        renewalQuantity: Int64? = nil,
        currency: String? = nil,
        offerType: Int64? = nil,
        offerIdentifier: String? = nil,
        offerDiscountType: String? = nil,
        offerPeriod: String? = nil,
        recentSubscriptionStartDate: String? = nil,
        eligibleWinBackOfferIds: [String]? = nil,
        appAccountToken: String? = nil,
        appTransactionId: String? = nil,
        renewalBillingPlanType: String? = nil,
        commitmentInfo: JSONContent? = nil,
        advancedCommerceInfo: JSONContent? = nil,
        multiSeatInfo: JSONContent? = nil
    ) {
        self.environment = environment
        self.productId = productId
        self.autoRenewProductId = autoRenewProductId
        self.autoRenewStatus = autoRenewStatus
        self.expirationIntent = expirationIntent
        self.isInBillingRetryPeriod = isInBillingRetryPeriod
        self.gracePeriodExpiresDate = gracePeriodExpiresDate
        self.priceIncreaseStatus = priceIncreaseStatus
        self.renewalDate = renewalDate
        self.renewalPrice = renewalPrice
        self.renewalQuantity = renewalQuantity
        self.currency = currency
        self.offerType = offerType
        self.offerIdentifier = offerIdentifier
        self.offerDiscountType = offerDiscountType
        self.offerPeriod = offerPeriod
        self.recentSubscriptionStartDate = recentSubscriptionStartDate
        self.eligibleWinBackOfferIds = eligibleWinBackOfferIds
        self.appAccountToken = appAccountToken
        self.appTransactionId = appTransactionId
        self.renewalBillingPlanType = renewalBillingPlanType
        self.commitmentInfo = commitmentInfo
        self.advancedCommerceInfo = advancedCommerceInfo
        self.multiSeatInfo = multiSeatInfo
    }
}
