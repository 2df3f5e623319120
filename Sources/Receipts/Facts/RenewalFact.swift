/// A fact that signed renewal information states about a subscription (`JWSRenewalInfoDecodedPayload`).
public enum RenewalFact: String, StatedFact {
    case environment
    case productId = "product_id"
    case autoRenewProductId = "auto_renew_product_id"
    case autoRenewStatus = "auto_renew_status"
    case expirationIntent = "expiration_intent"
    case isInBillingRetryPeriod = "is_in_billing_retry_period"
    case gracePeriodExpiresDate = "grace_period_expires_date"
    case priceIncreaseStatus = "price_increase_status"
    case renewalDate = "renewal_date"
    /// The price in milliunits of the currency, of one seat on average.
    case renewalPrice = "renewal_price"
    /// The number of seats.
    case renewalQuantity = "renewal_quantity"
    /// ISO 4217.
    case currency
    case offerType = "offer_type"
    case offerIdentifier = "offer_id"
    case offerDiscountType = "offer_discount_type"
    /// ISO 8601, such as `P1M`.
    case offerPeriod = "offer_period"
    case recentSubscriptionStartDate = "recent_subscription_start_date"
    /// The text of a JSON array.
    case eligibleWinBackOfferIds = "eligible_win_back_offer_ids"
    case appAccountToken = "app_account_token"
    case appTransactionId = "app_transaction_id"
    case renewalBillingPlanType = "renewal_billing_plan_type"
    /// The text of a JSON object.
    case commitmentInfo = "commitment_info"
    /// The text of a JSON object.
    case advancedCommerceInfo = "advanced_commerce_info"
    /// The text of a JSON object.
    case multiSeatInfo = "multi_seat_info"
}

public typealias RenewalFacts = StatedFacts<RenewalFact>

extension RenewalFacts {
    /// The commitment of several billing periods; nil without one.
    public var commitment: RenewalCommitmentInfo? { object(.commitmentInfo, RenewalCommitmentInfo.init) }

    /// The seats of the next period; nil for a subscription without seats.
    public var seats: RenewalMultiSeatInfo? { object(.multiSeatInfo, RenewalMultiSeatInfo.init) }

    init(_ renewal: JWSRenewalInfoDecodedPayload) {
        self.init()
        set(.environment, renewal.environment)
        set(.productId, renewal.productId)
        set(.autoRenewProductId, renewal.autoRenewProductId)
        set(.autoRenewStatus, renewal.autoRenewStatus)
        set(.expirationIntent, renewal.expirationIntent)
        set(.isInBillingRetryPeriod, renewal.isInBillingRetryPeriod)
        set(.gracePeriodExpiresDate, renewal.gracePeriodExpiresDate)
        set(.priceIncreaseStatus, renewal.priceIncreaseStatus)
        set(.renewalDate, renewal.renewalDate)
        set(.renewalPrice, renewal.renewalPrice)
        set(.renewalQuantity, renewal.renewalQuantity)
        set(.currency, renewal.currency)
        set(.offerType, renewal.offerType)
        set(.offerIdentifier, renewal.offerIdentifier)
        set(.offerDiscountType, renewal.offerDiscountType)
        set(.offerPeriod, renewal.offerPeriod)
        set(.recentSubscriptionStartDate, renewal.recentSubscriptionStartDate)
        set(
            .eligibleWinBackOfferIds, renewal.fields["eligibleWinBackOfferIds"],
            ifRead: renewal.eligibleWinBackOfferIds)
        set(.appAccountToken, renewal.appAccountToken?.lowercasedString)
        set(.appTransactionId, renewal.appTransactionId)
        set(.renewalBillingPlanType, renewal.renewalBillingPlanType)
        set(.commitmentInfo, renewal.fields["commitmentInfo"], ifRead: renewal.commitmentInfo)
        set(.advancedCommerceInfo, renewal.fields["advancedCommerceInfo"], ifRead: renewal.advancedCommerceInfo)
        set(.multiSeatInfo, renewal.fields["multiSeatInfo"], ifRead: renewal.multiSeatInfo)
    }
}
