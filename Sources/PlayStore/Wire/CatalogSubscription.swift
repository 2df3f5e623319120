import HTTPSupport

/// A subscription of a catalog (`Subscription` of the Play Developer API), with its base plans.
package struct CatalogSubscription: CatalogResource, Hashable {
    package static let field = "subscription"
    package static let identifiers = [CatalogIdentifier<Self>("productId", \.productId, \.productId)]

    package struct Listing: Codable, Hashable, Sendable {
        package var languageCode: String?
        package var title: String?
        package var description: String?
        package var benefits: [String]?
    }

    package var packageName: String?
    package var productId: String?
    package var basePlans: [BasePlan]?
    package var listings: [Listing]?
    package var archived: Bool?
    /// The local Play keeps it, and nothing follows from it.
    package var restrictedPaymentCountries: JSONContent?
    package var taxAndComplianceSettings: TaxSettings?

    /// A period and a price at which a subscription is sold (`BasePlan`).
    package struct BasePlan: Codable, Hashable, Sendable {
        /// A plan that renews until it is canceled.
        package struct AutoRenewing: Codable, Hashable, Sendable {
            package var billingPeriodDuration: String?
            package var gracePeriodDuration: String?
            package var accountHoldDuration: String?
            package var resubscribeState: String?
            package var prorationMode: String?
            package var legacyCompatible: Bool?
            package var legacyCompatibleSubscriptionOfferId: String?
        }

        /// A plan that ends with its period.
        package struct Prepaid: Codable, Hashable, Sendable {
            package var billingPeriodDuration: String?
            package var timeExtension: String?
        }

        /// A plan that renews, with a number of payments to which the customer commits.
        package struct Installments: Codable, Hashable, Sendable {
            package var billingPeriodDuration: String?
            package var committedPaymentsCount: Int32?
            package var renewalType: String?
            package var gracePeriodDuration: String?
            package var accountHoldDuration: String?
            package var resubscribeState: String?
            package var prorationMode: String?
        }

        package struct RegionalConfig: Codable, Hashable, Sendable {
            package var regionCode: String?
            package var price: Money?
            package var newSubscriberAvailability: Bool?
        }

        package var basePlanId: String?
        package var state: CatalogState?
        package var autoRenewingBasePlanType: AutoRenewing?
        package var prepaidBasePlanType: Prepaid?
        package var installmentsBasePlanType: Installments?
        package var regionalConfigs: [RegionalConfig]?
        /// The local Play keeps it, and sells in the regions with a price of their own.
        package var otherRegionsConfig: JSONContent?
        package var offerTags: [OneTimeProduct.OfferTag]?
    }
}

/// An offer of a base plan (`SubscriptionOffer`): phases before its price.
package struct CatalogOffer: CatalogResource, Hashable {
    package static let field = "subscriptionOffer"
    package static let identifiers = [
        CatalogIdentifier<Self>("productId", \.productId, \.productId),
        CatalogIdentifier<Self>("basePlanId", \.basePlanId, \.basePlanId),
        CatalogIdentifier<Self>("offerId", \.offerId, \.offerId),
    ]

    package struct Phase: Codable, Hashable, Sendable {
        package struct RegionalConfig: Codable, Hashable, Sendable {
            package var regionCode: String?
            package var price: Money?
            /// The discount as a share of the base plan's price.
            package var relativeDiscount: Double?
            package var absoluteDiscount: Money?
            package var free: EmptyObject?
        }

        package var duration: String?
        package var recurrenceCount: Int32?
        package var regionalConfigs: [RegionalConfig]?
        /// The local Play keeps it, and nothing follows from it.
        package var otherRegionsConfig: JSONContent?
    }

    package struct RegionalConfig: Codable, Hashable, Sendable {
        package var regionCode: String?
        package var newSubscriberAvailability: Bool?
    }

    package var packageName: String?
    package var productId: String?
    package var basePlanId: String?
    package var offerId: String?
    package var state: CatalogState?
    package var phases: [Phase]?
    package var regionalConfigs: [RegionalConfig]?
    /// Nil for an offer that all customers may have.
    package var targeting: SubscriptionOfferTargeting?
    /// The local Play keeps it, and nothing follows from it.
    package var otherRegionsConfig: JSONContent?
    package var offerTags: [OneTimeProduct.OfferTag]?
}

/// The customers whom an offer is for, by one of two rules.
package struct SubscriptionOfferTargeting: Codable, Hashable, Sendable {
    package struct TargetingRuleScope: Codable, Hashable, Sendable {
        package var thisSubscription: EmptyObject?
        package var anySubscriptionInApp: EmptyObject?
        package var specificSubscriptionInApp: String?
    }

    /// "User never had {scope} before."
    package struct AcquisitionTargetingRule: Codable, Hashable, Sendable {
        package var scope: TargetingRuleScope?
    }

    /// "User currently has {scope} [with billing period {billing_period}]."
    package struct UpgradeTargetingRule: Codable, Hashable, Sendable {
        package var scope: TargetingRuleScope?
        /// "If set to true, a user can never be eligible for this offer again if they ever subscribed to this offer."
        package var oncePerUser: Bool?
        /// Nil for any billing period.
        package var billingPeriodDuration: String?
    }

    package var acquisitionRule: AcquisitionTargetingRule?
    package var upgradeRule: UpgradeTargetingRule?
}
