/// The fields of signed renewal information about a subscription (`JWSRenewalInfoDecodedPayload`).
public enum RenewalFact: String, StatedFact {
    case environment, productId, autoRenewProductId, autoRenewStatus, expirationIntent, isInBillingRetryPeriod
    case gracePeriodExpiresDate, priceIncreaseStatus, renewalDate, renewalPrice, renewalQuantity, currency, offerType
    case offerIdentifier, offerDiscountType, offerPeriod, recentSubscriptionStartDate, eligibleWinBackOfferIds
    case appAccountToken, appTransactionId, renewalBillingPlanType, commitmentInfo, advancedCommerceInfo, multiSeatInfo

    public static let byColumn = factsByColumn()

    public var field: StatedField {
        switch self {
        case .environment: .text("environment", "store environment")
        case .productId: .text("product_id", "product")
        case .autoRenewProductId: .text("auto_renew_product_id", "product of the next renewal")
        case .autoRenewStatus: .integer("auto_renew_status", "renewal")
        case .expirationIntent: .integer("expiration_intent", "reason of the expiry")
        case .isInBillingRetryPeriod: .bool("is_in_billing_retry_period", "Apple retries the charge")
        case .gracePeriodExpiresDate: .date("grace_period_expires_date", "end of the grace period")
        case .priceIncreaseStatus: .integer("price_increase_status", "consent to a price increase")
        case .renewalDate: .date("renewal_date", "next renewal")
        // Of one seat on average.
        case .renewalPrice: .integer("renewal_price", "in thousandths of the currency")
        case .renewalQuantity: .integer("renewal_quantity", "number of seats that renew")
        case .currency: .text("currency", "currency")
        case .offerType: .integer("offer_type", "kind of the offer")
        case .offerIdentifier: .text("offer_id", "offer")
        case .offerDiscountType: .text("offer_discount_type", "payment mode of the offer")
        case .offerPeriod: .text("offer_period", "length of the offer")
        case .recentSubscriptionStartDate:
            .date("recent_subscription_start_date", "start of the current subscription")
        case .eligibleWinBackOfferIds: .texts("eligible_win_back_offer_ids", "win-back offers for the customer")
        case .appAccountToken: .token("app_account_token", "the app's token of the customer")
        case .appTransactionId: .text("app_transaction_id", "the customer's download of the app")
        case .renewalBillingPlanType: .text("renewal_billing_plan_type", "billing plan of the next period")
        case .commitmentInfo: .object(RenewalCommitmentInfo.self, "commitment_info", "commitment")
        case .advancedCommerceInfo:
            .object(AdvancedCommerceRenewalInfo.self, "advanced_commerce_info", "Advanced Commerce data")
        case .multiSeatInfo: .object(RenewalMultiSeatInfo.self, "multi_seat_info", "seats and their prices")
        }
    }
}

public typealias RenewalFacts = StatedFacts<RenewalFact>

extension RenewalFacts {
    /// The commitment of several billing periods; nil without one.
    public var commitment: RenewalCommitmentInfo? { object(.commitmentInfo) }

    /// The seats of the next period; nil for a subscription without seats.
    public var seats: RenewalMultiSeatInfo? { object(.multiSeatInfo) }
}
