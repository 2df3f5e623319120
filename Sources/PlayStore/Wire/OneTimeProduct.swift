import HTTPSupport

/// A product that is bought once (`OneTimeProduct` of the Play Developer API), with its names in the API.
///
/// Google omits fields without a value, so that all are optional. `OneTimeProduct.checked` states what a product of a catalog has.
package struct OneTimeProduct: CatalogResource, Hashable {
    package static let field = "oneTimeProduct"
    package static let identifiers = [CatalogIdentifier<Self>("productId", \.productId, \.productId)]

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
    package var taxAndComplianceSettings: OneTimeProductTaxSettings?

    /// A way to get a product, with its prices (`OneTimeProductPurchaseOption`).
    package struct PurchaseOption: Codable, Hashable, Sendable {
        package struct BuyOption: Codable, Hashable, Sendable {
            package var legacyCompatible: Bool?
            package var multiQuantityEnabled: Bool?
        }

        package struct RentOption: Codable, Hashable, Sendable {
            package var rentalPeriod: String?
            package var expirationPeriod: String?

            package init(rentalPeriod: String?, expirationPeriod: String? = nil) {
                (self.rentalPeriod, self.expirationPeriod) = (rentalPeriod, expirationPeriod)
            }
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
        package var state: CatalogState?
        package var buyOption: BuyOption?
        package var rentOption: RentOption?
        package var regionalPricingAndAvailabilityConfigs: [RegionalConfig]?
        /// The local Play keeps it, and nothing follows from it.
        package var newRegionsConfig: JSONContent?
        package var offerTags: [OfferTag]?
        package var taxAndComplianceSettings: PurchaseOptionTaxSettings?
    }
}

/// An offer of a purchase option (`OneTimeProductOffer`): a discount, a pre-order or a reward of a game.
package struct OneTimeProductOffer: CatalogResource, Hashable {
    package static let field = "oneTimeProductOffer"
    package static let identifiers = [
        CatalogIdentifier<Self>("productId", \.productId, \.productId),
        CatalogIdentifier<Self>("purchaseOptionId", \.purchaseOptionId, \.purchaseOptionId),
        CatalogIdentifier<Self>("offerId", \.offerId, \.offerId),
    ]

    package struct Discount: Codable, Hashable, Sendable {
        package var startTime: DateTimeText?
        package var endTime: DateTimeText?
        /// The number of purchases by one customer; without limit if it is 0 or missing.
        package var redemptionLimit: Int64Text?
    }

    package struct PreOrder: Codable, Hashable, Sendable {
        package var startTime: DateTimeText?
        package var endTime: DateTimeText?
        package var releaseTime: DateTimeText?
        package var priceChangeBehavior: String?
    }

    package struct GameReward: Codable, Hashable, Sendable {
        package var redemptionLimit: Int64Text?
    }

    package struct RegionalConfig: Codable, Hashable, Sendable {
        package var regionCode: String?
        package var availability: String?
        package var absoluteDiscount: Money?
        /// The discount as a share of the purchase option's price.
        package var relativeDiscount: Double?
        package var noOverride: EmptyObject?
    }

    package var packageName: String?
    package var productId: String?
    package var purchaseOptionId: String?
    package var offerId: String?
    package var state: CatalogState?
    package var discountedOffer: Discount?
    package var preOrderOffer: PreOrder?
    package var gameRewardOffer: GameReward?
    package var regionalPricingAndAvailabilityConfigs: [RegionalConfig]?
    package var offerTags: [OneTimeProduct.OfferTag]?
    package var regionsVersion: OneTimeProduct.RegionsVersion?
}

/// A product in the older catalog of the API (`InAppProduct`): a one-time product with one price for each region.
package struct InAppProduct: Codable, Hashable, Sendable {
    package struct Listing: Codable, Hashable, Sendable {
        package var title: String?
        package var description: String?
    }

    package var packageName: String?
    package var sku: String?
    /// `active` or `inactive`.
    package var status: String?
    /// `managedUser`. Subscriptions have an API of their own.
    package var purchaseType: String?
    package var defaultPrice: ExternalTransaction.Amount?
    package var prices: [String: ExternalTransaction.Amount]?
    package var listings: [String: Listing]?
    package var defaultLanguage: String?
    package var managedProductTaxesAndComplianceSettings: TaxSettings?
}

/// The bodies of the batches of the older catalog, and its answers.
package enum InAppProductRequests {
    package struct Update: Codable, Sendable {
        package var inappproduct: InAppProduct?
        package var packageName: String?
        package var sku: String?
        package var allowMissing: Bool?
        package var autoConvertMissingPrices: Bool?
    }

    package struct BatchUpdate: Codable, Sendable {
        package var requests: [Update]?
    }

    package struct BatchUpdated: Codable, Sendable {
        package var inappproducts: [InAppProduct]?
    }

    package struct Delete: Codable, Sendable {
        package var packageName: String?
        package var sku: String?
    }

    package struct BatchDelete: Codable, Sendable {
        package var requests: [Delete]?
    }

    package struct Page: Codable, Sendable {
        package static let kind = "androidpublisher#inappproductsListResponse"

        package var kind: String?
        package var inappproduct: [InAppProduct]?
        package var tokenPagination: VoidedPurchaseList.TokenPagination?
    }

    package struct Batch: Codable, Sendable {
        package var inappproduct: [InAppProduct]?
    }
}
