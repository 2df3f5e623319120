/// The taxes of a product in a country (`RegionalTaxRateInfo`).
package struct RegionalTaxRateInfo: Codable, Hashable, Sendable {
    package var taxTier: String?
    package var eligibleForStreamingServiceTaxRate: Bool?
    package var streamingTaxType: String?
}

/// The taxes of a one-time product in a country, which it names itself (`RegionalTaxConfig`).
package struct RegionalTaxConfig: Codable, Hashable, Sendable {
    package var regionCode: String?
    package var taxTier: String?
    package var eligibleForStreamingServiceTaxRate: Bool?
    package var streamingTaxType: String?
}

/// The age from which a product is suitable in a country (`RegionalProductAgeRatingInfo`).
package struct RegionalProductAgeRatingInfo: Codable, Hashable, Sendable {
    package var regionCode: String?
    package var productAgeRatingTier: String?
}

/// The taxes and duties of a one-time product (`OneTimeProductTaxAndComplianceSettings`).
package struct OneTimeProductTaxSettings: Codable, Hashable, Sendable {
    package var isTokenizedDigitalAsset: Bool?
    package var productTaxCategoryCode: String?
    package var regionalProductAgeRatingInfos: [RegionalProductAgeRatingInfo]?
    package var regionalTaxConfigs: [RegionalTaxConfig]?
}

/// The taxes and duties of a purchase option (`PurchaseOptionTaxAndComplianceSettings`).
package struct PurchaseOptionTaxSettings: Codable, Hashable, Sendable {
    package var withdrawalRightType: String?
}

/// The taxes and duties of a subscription, and of a product in the older catalog (`SubscriptionTaxAndComplianceSettings`,
/// `ManagedProductTaxAndComplianceSettings`).
package struct TaxSettings: Codable, Hashable, Sendable {
    package var eeaWithdrawalRightType: String?
    package var isTokenizedDigitalAsset: Bool?
    package var productTaxCategoryCode: String?
    package var regionalProductAgeRatingInfos: [RegionalProductAgeRatingInfo]?
    package var taxRateInfoByRegionCode: [String: RegionalTaxRateInfo]?
}
