import HTTPSupport

/// A product that is bought once (`OneTimeProduct` of the Play Developer API), with its names in the API.
///
/// Google omits fields without a value, so that all are optional. `OneTimeProduct.checked` states what a product of a catalog has.
package struct OneTimeProduct: Codable, Hashable, Sendable {
    package struct Listing: Codable, Hashable, Sendable {
        package var languageCode: String?
        package var title: String?
        package var description: String?
    }

    package struct OfferTag: Codable, Hashable, Sendable {
        package var tag: String?
    }

    package struct RegionsVersion: Codable, Hashable, Sendable {
        package var version: String?
    }

    package var packageName: String?
    package var productId: String?
    package var listings: [Listing]?
    package var purchaseOptions: [PurchaseOption]?
    package var offerTags: [OfferTag]?
    package var regionsVersion: RegionsVersion?
    /// The local Play keeps it, and nothing follows from it.
    package var restrictedPaymentCountries: JSONContent?
    /// The local Play keeps them, and nothing follows from them.
    package var taxAndComplianceSettings: JSONContent?
}

extension OneTimeProduct {
    /// A way to get a product, with its prices (`OneTimeProductPurchaseOption`).
    package struct PurchaseOption: Codable, Hashable, Sendable {
        package enum State: String, Codable, Sendable {
            case draft = "DRAFT"
            case active = "ACTIVE"
            case inactive = "INACTIVE"
            case inactivePublished = "INACTIVE_PUBLISHED"
        }

        package struct BuyOption: Codable, Hashable, Sendable {
            package var legacyCompatible: Bool?
            package var multiQuantityEnabled: Bool?
        }

        package struct RentOption: Codable, Hashable, Sendable {
            package var rentalPeriod: String?
            package var expirationPeriod: String?
        }

        package struct RegionalConfig: Codable, Hashable, Sendable {
            /// The value of a region in which a product can be bought.
            package static let available = "AVAILABLE"
            package static let availabilities = [
                available, "NO_LONGER_AVAILABLE", "AVAILABLE_IF_RELEASED", "AVAILABLE_FOR_OFFERS_ONLY",
            ]

            /// The ISO 3166-1 alpha-2 code, such as `US`.
            package var regionCode: String?
            package var price: Money?
            package var availability: String?
        }

        package var purchaseOptionId: String?
        package var state: State?
        package var buyOption: BuyOption?
        package var rentOption: RentOption?
        package var regionalPricingAndAvailabilityConfigs: [RegionalConfig]?
        /// The local Play keeps it, and nothing follows from it.
        package var newRegionsConfig: JSONContent?
        package var offerTags: [OfferTag]?
        /// The local Play keeps them, and nothing follows from them.
        package var taxAndComplianceSettings: JSONContent?
    }
}

/// The bodies of the methods that write one-time products.
package enum OneTimeProductRequests {
    /// The maximum number of requests in a batch.
    static let maximumBatch = 100

    package struct Update: Codable, Sendable {
        package var oneTimeProduct: OneTimeProduct?
        package var updateMask: String?
        package var allowMissing: Bool?
        package var regionsVersion: OneTimeProduct.RegionsVersion?
    }

    package struct BatchUpdate: Codable, Sendable {
        package var requests: [Update]?
    }

    /// The place of a product, or of a purchase option. Each request repeats it.
    package struct Place: Codable, Sendable {
        package var packageName: String?
        package var productId: String?
        package var purchaseOptionId: String?
    }

    package struct BatchDelete: Codable, Sendable {
        package var requests: [Place]?
    }

    package struct StateUpdate: Codable, Sendable {
        package var activatePurchaseOptionRequest: Place?
        package var deactivatePurchaseOptionRequest: Place?
    }

    package struct BatchUpdateStates: Codable, Sendable {
        package var requests: [StateUpdate]?
    }
}

/// A page of products, or those of a batch.
package struct OneTimeProductList: Codable, Sendable {
    package var oneTimeProducts: [OneTimeProduct]?
    package var nextPageToken: String?

    package init(oneTimeProducts: [OneTimeProduct]?) {
        self.oneTimeProducts = oneTimeProducts
    }
}
