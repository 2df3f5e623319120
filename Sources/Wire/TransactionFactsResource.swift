/// The facts that the App Store has stated about a transaction, in Apple's words. Facts that it has not stated are nil.
public struct TransactionFactsResource: Codable, Sendable {
    /// `Production`, `Sandbox`, `Xcode` or `LocalTesting`.
    public let environment: String?
    /// `Consumable`, `Non-Consumable`, `Auto-Renewable Subscription` or `Non-Renewing Subscription`.
    public let type: String?
    /// `PURCHASED`, `FAMILY_SHARED` or `ASSIGNED`, a seat that another customer has paid for.
    public let inAppOwnershipType: String?
    /// `PURCHASE` or `RENEWAL`.
    public let transactionReason: String?
    /// RFC 3339, UTC, like the other dates.
    public let originalPurchaseDate: String?
    /// The expiration date that the App Store states.
    public let expiresDate: String?
    /// The date of the last signed transaction. Nil if only app receipts have stated the facts.
    public let signedDate: String?
    public let webOrderLineItemId: String?
    public let subscriptionGroupIdentifier: String?
    public let isUpgraded: Bool?
    /// The price in milliunits of the currency: of the whole quantity, or of one seat on average.
    public let price: Int64?
    /// ISO 4217.
    public let currency: String?
    /// The ISO 3166-1 alpha-3 code.
    public let storefront: String?
    public let storefrontId: String?
    /// 1 introductory, 2 promotional, 3 offer code, 4 win-back.
    public let offerType: Int64?
    public let offerIdentifier: String?
    /// `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT` or `ONE_TIME`.
    public let offerDiscountType: String?
    /// ISO 8601, such as `P1M`.
    public let offerPeriod: String?
    public let isTrialPeriod: Bool?
    public let isInIntroOfferPeriod: Bool?
    public let appAccountToken: String?
    public let appTransactionId: String?
    public let itemId: Int64?
    /// `REFUND_FULL`, `REFUND_PRORATED` or `FAMILY_REVOKE`.
    public let revocationType: String?
    /// The percentage in thousandths.
    public let revocationPercentage: Int64?
    /// `BILLED_UPFRONT` or `MONTHLY`.
    public let billingPlanType: String?
    public let commitmentInfo: JSONContent?
    public let advancedCommerceInfo: JSONContent?
    public let multiSeatInfo: JSONContent?
    /// `SEAT_ADDITION`. Nil if the transaction is the only one of its period.
    public let additionalTransactionReason: String?

    public init(
        environment: String? = nil,
        type: String? = nil,
        inAppOwnershipType: String? = nil,
        transactionReason: String? = nil,
        originalPurchaseDate: String? = nil,
        expiresDate: String? = nil,
        signedDate: String? = nil,
        webOrderLineItemId: String? = nil,
        subscriptionGroupIdentifier: String? = nil,
        isUpgraded: Bool? = nil,
        price: Int64? = nil,
        currency: String? = nil,
        storefront: String? = nil,
        storefrontId: String? = nil,
        offerType: Int64? = nil,
        offerIdentifier: String? = nil,
        offerDiscountType: String? = nil,
        offerPeriod: String? = nil,
        isTrialPeriod: Bool? = nil,
        isInIntroOfferPeriod: Bool? = nil,
        appAccountToken: String? = nil,
        appTransactionId: String? = nil,
        itemId: Int64? = nil,
        revocationType: String? = nil,
        revocationPercentage: Int64? = nil,
        billingPlanType: String? = nil,
        commitmentInfo: JSONContent? = nil,
        advancedCommerceInfo: JSONContent? = nil,
        multiSeatInfo: JSONContent? = nil,
        additionalTransactionReason: String? = nil
    ) {
        self.environment = environment
        self.type = type
        self.inAppOwnershipType = inAppOwnershipType
        self.transactionReason = transactionReason
        self.originalPurchaseDate = originalPurchaseDate
        self.expiresDate = expiresDate
        self.signedDate = signedDate
        self.webOrderLineItemId = webOrderLineItemId
        self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
        self.isUpgraded = isUpgraded
        self.price = price
        self.currency = currency
        self.storefront = storefront
        self.storefrontId = storefrontId
        self.offerType = offerType
        self.offerIdentifier = offerIdentifier
        self.offerDiscountType = offerDiscountType
        self.offerPeriod = offerPeriod
        self.isTrialPeriod = isTrialPeriod
        self.isInIntroOfferPeriod = isInIntroOfferPeriod
        self.appAccountToken = appAccountToken
        self.appTransactionId = appTransactionId
        self.itemId = itemId
        self.revocationType = revocationType
        self.revocationPercentage = revocationPercentage
        self.billingPlanType = billingPlanType
        self.commitmentInfo = commitmentInfo
        self.advancedCommerceInfo = advancedCommerceInfo
        self.multiSeatInfo = multiSeatInfo
        self.additionalTransactionReason = additionalTransactionReason
    }
}
