import Proofs

/// A product that the store sells, with its localizations (SKProduct).
public struct Product: Hashable, Sendable {
    /// A product's name and description in one language.
    public struct Localization: Hashable, Sendable {
        /// Language and region as Xcode writes them, such as `ko` or `en_US`.
        public let locale: String
        public let displayName: String
        public let description: String

        public init(locale: String, displayName: String, description: String) {
            self.locale = locale
            self.displayName = displayName
            self.description = description
        }

        /// The language part of the locale: `en` of `en_US`.
        public var language: Substring {
            locale.prefix { $0 != "_" && $0 != "-" }
        }
    }

    public let productIdentifier: String
    public let type: ProductType
    /// The developer's internal name of the product.
    public let referenceName: String
    public let price: Price
    public let isFamilyShareable: Bool
    /// The localizations in the catalog's order.
    public let localizations: [Localization]
    /// The subscription. Nil if the product does not renew automatically.
    public var subscription: Subscription? { subscriptions.first }
    /// The subscription, at most one. The array keeps a product small enough for the result of a throwing function.
    private let subscriptions: [Subscription]

    public init(
        productIdentifier: String,
        type: ProductType,
        referenceName: String = "",
        price: Price,
        isFamilyShareable: Bool,
        localizations: [Localization],
        subscription: Subscription? = nil
    ) {
        self.productIdentifier = productIdentifier
        self.type = type
        self.referenceName = referenceName
        self.price = price
        self.isFamilyShareable = isFamilyShareable
        self.localizations = localizations
        subscriptions = subscription.map { [$0] } ?? []
    }
}

/// The subscription part of an auto-renewable subscription product (StoreKit's `Product.SubscriptionInfo`).
public struct Subscription: Hashable, Sendable {
    /// The group. A customer has one subscription per group at a time.
    public let groupIdentifier: String
    public let groupName: String
    /// The rank in the group. 1 is the highest.
    public let level: Int
    public let period: SubscriptionPeriod
    /// The offers in the catalog's order.
    public let offers: [SubscriptionOffer]
    /// The offers of the catalog that cannot be sold yet.
    public let unfinishedOffers: [UnfinishedOffer]
    /// The billing plans that are enabled. Files before version 5.0 have none.
    public let billingPlans: [BillingPlan]
    public let multiSeat: MultiSeat
    /// The monthly plan with a commitment of twelve months; nil if there is none. Only a subscription of a year has it.
    public var monthlyPlan: BillingPlan? {
        period == .oneYear ? billingPlans.first { $0.type == .monthly } : nil
    }

    /// An offer that its author has not finished, such as one that Xcode has just created.
    public struct UnfinishedOffer: Hashable, Sendable {
        public let kind: SubscriptionOffer.Kind
        /// Nil for an introductory offer, or if the offer has none yet.
        public let identifier: String?
        /// The key of the offer without a value.
        public let key: String
    }

    public init(
        groupIdentifier: String,
        groupName: String,
        level: Int,
        period: SubscriptionPeriod,
        offers: [SubscriptionOffer],
        unfinishedOffers: [UnfinishedOffer] = [],
        billingPlans: [BillingPlan] = [],
        multiSeat: MultiSeat = MultiSeat()
    ) {
        self.groupIdentifier = groupIdentifier
        self.groupName = groupName
        self.level = level
        self.period = period
        self.offers = offers
        self.unfinishedOffers = unfinishedOffers
        self.billingPlans = billingPlans
        self.multiSeat = multiSeat
    }
}

/// The host of the invitations to the seats of a subscription (App Store Server API, `invitationManagement`).
public enum InvitationManagement: String, Sendable, CaseIterable, Codable {
    /// Each member has a transaction of their own.
    case apple = "APPLE"
    /// The app's server claims the seats, and members have no transactions.
    case developer = "DEVELOPER"
}

/// The seats with which a subscription is sold (StoreKit's `Product.supportsMultiSeatPurchase` and `SeatBasedPricing`).
public struct MultiSeat: Hashable, Sendable {
    /// The price of each seat from a number of seats on. The seats before keep their prices.
    public struct PriceTier: Hashable, Sendable {
        /// The number of the first seat at the price, at least 2.
        public let minimumQuantity: Int
        public let price: Price
    }

    /// The number of prices of a seat, with that of the product.
    public static let maximumPrices = 5

    public let isEnabled: Bool
    public let invitationManagement: InvitationManagement
    /// The lower prices of further seats, in the order of their numbers.
    public let priceTiers: [PriceTier]

    public init(
        isEnabled: Bool = true,
        invitationManagement: InvitationManagement = .apple,
        priceTiers: [PriceTier] = []
    ) {
        self.isEnabled = isEnabled
        self.invitationManagement = invitationManagement
        self.priceTiers = priceTiers
    }
}

/// A way to pay for a subscription (StoreKit's `Product.SubscriptionInfo.PricingTerms`).
public struct BillingPlan: Hashable, Sendable {
    /// The number of billing periods of a commitment.
    public static let commitmentPeriods = 12

    public let type: BillingPlanType
    /// The price of a billing period.
    public let price: Price
    /// The price of the commitment: of all its billing periods.
    public let commitmentPrice: Price

    /// - Parameter commitmentPrice: Nil for the price of twelve billing periods.
    public init(type: BillingPlanType, price: Price, commitmentPrice: Price? = nil) {
        self.type = type
        self.price = price
        self.commitmentPrice = commitmentPrice ?? Self.commitmentPrice(of: price)
    }

    /// The price of twelve billing periods.
    private static func commitmentPrice(of price: Price) -> Price {
        let (sum, isOverflow) = price.milliunits.multipliedReportingOverflow(by: Int64(commitmentPeriods))
        return Price(milliunits: isOverflow ? .max : sum, currency: price.currency)
    }

    /// The price of a commitment whose billing periods have another price.
    public func commitmentPrice(at price: Price) -> Price {
        price.milliunits == self.price.milliunits ? commitmentPrice : Self.commitmentPrice(of: price)
    }
}
