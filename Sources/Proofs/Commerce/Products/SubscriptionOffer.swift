/// A different price for the first periods of a subscription (StoreKit's `Product.SubscriptionOffer`).
public struct SubscriptionOffer: Hashable, Sendable, Codable {
    /// The kind of an offer, with the numbers of signed transactions (`offerType`).
    public enum Kind: Int, Sendable, NamedCase, Codable {
        case introductory = 1
        case promotional = 2
        case offerCode = 3
        case winBack = 4
    }

    /// The payment mode, as `.storekit` files name it.
    public enum PaymentMode: String, Sendable, CaseIterable, Codable {
        case freeTrial = "free"
        case payAsYouGo
        case payUpFront
    }

    /// The eligibility for an offer code, as `.storekit` files name it.
    public enum Eligibility: String, Sendable, CaseIterable, Codable {
        /// The customer never had the subscription.
        case new
        /// The customer has the subscription.
        case existing
        /// The customer had the subscription.
        case expired
    }

    public let kind: Kind
    /// The identifier of the offer in requests and transactions. For an offer code, it is the reference name. Nil for
    /// an introductory offer.
    public let identifier: String?
    public let paymentMode: PaymentMode
    /// The billing plan that has the offer; nil in files before version 5.0, which know one plan.
    public let billingPlanType: BillingPlanType?
    public let period: SubscriptionPeriod
    /// The number of periods. It exceeds 1 only if each period is paid separately.
    public let periodCount: Int
    /// The price. Nil for a free trial.
    public let price: Price?
    /// The eligible customers. Nil if the kind of the offer alone determines them.
    public let eligibility: Set<Eligibility>?

    public init(
        kind: Kind,
        identifier: String?,
        paymentMode: PaymentMode,
        period: SubscriptionPeriod,
        periodCount: Int,
        price: Price?,
        eligibility: Set<Eligibility>? = nil,
        billingPlanType: BillingPlanType? = nil
    ) {
        self.kind = kind
        self.identifier = identifier
        self.paymentMode = paymentMode
        self.period = period
        self.periodCount = periodCount
        self.price = price
        self.eligibility = eligibility
        self.billingPlanType = billingPlanType
    }
}

/// The billing plan of a subscription, with StoreKit's names (App Store Server API, `billingPlanType`).
public enum BillingPlanType: String, Sendable, NamedCase, Codable {
    /// Each period of the subscription is paid at its start.
    case upFront = "BILLED_UPFRONT"
    /// A year is paid for in twelve months, to which the customer is committed.
    case monthly = "MONTHLY"
}
