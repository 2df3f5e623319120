/// The rules of the taxes and duties of products. Nothing follows from them at the local Play, which takes no tax and asks for no ages.
///
/// Sources: developers.google.com/android-publisher/api-ref/rest/v3/RegionalTaxRateInfo, …/monetization.onetimeproducts
/// (`RegionalTaxConfig`), and …/RegionalProductAgeRatingInfo. The zero value of an enumeration states nothing.
extension CatalogCheck {
    /// The only country with taxes on streaming, and with ages of products.
    private static let unitedStates = "US"
    private static let unitedStatesAlone = "only US is supported."
    private static let withdrawalRights = [
        "WITHDRAWAL_RIGHT_TYPE_UNSPECIFIED", "WITHDRAWAL_RIGHT_DIGITAL_CONTENT", "WITHDRAWAL_RIGHT_SERVICE",
    ]
    private static let ageRatingTiers = [
        "PRODUCT_AGE_RATING_TIER_UNKNOWN", "PRODUCT_AGE_RATING_TIER_EVERYONE",
        "PRODUCT_AGE_RATING_TIER_THIRTEEN_AND_ABOVE", "PRODUCT_AGE_RATING_TIER_SIXTEEN_AND_ABOVE",
        "PRODUCT_AGE_RATING_TIER_EIGHTEEN_AND_ABOVE",
    ]
    private static let taxTiers = [
        "TAX_TIER_UNSPECIFIED", "TAX_TIER_BOOKS_1", "TAX_TIER_NEWS_1", "TAX_TIER_NEWS_2", "TAX_TIER_MUSIC_OR_AUDIO_1",
        "TAX_TIER_LIVE_OR_BROADCAST_1",
    ]
    private static let noStreamingTax = "STREAMING_TAX_TYPE_UNSPECIFIED"
    private static let streamingTaxTypes = [
        noStreamingTax, "STREAMING_TAX_TYPE_TELCO_VIDEO_RENTAL", "STREAMING_TAX_TYPE_TELCO_VIDEO_SALES",
        "STREAMING_TAX_TYPE_TELCO_VIDEO_MULTI_CHANNEL", "STREAMING_TAX_TYPE_TELCO_AUDIO_RENTAL",
        "STREAMING_TAX_TYPE_TELCO_AUDIO_SALES", "STREAMING_TAX_TYPE_TELCO_AUDIO_MULTI_CHANNEL",
    ]

    static func withdrawalRight(_ type: String?, _ field: String) throws(PublisherError) {
        if let type { try value(type, among: withdrawalRights, field) }
    }

    /// Checks the ages of a product: "Currently this field is only supported for region code `US`."
    static func ages(_ ratings: [RegionalProductAgeRatingInfo]?, _ field: String) throws(PublisherError) {
        let ratings = ratings ?? []
        try regions(ratings.map(\.regionCode), field)
        for rating in ratings {
            guard rating.regionCode == unitedStates else {
                throw .invalidValue("\(field).regionCode", unitedStatesAlone)
            }
            if let tier = rating.productAgeRatingTier {
                try value(tier, among: ageRatingTiers, "\(field).productAgeRatingTier")
            }
        }
    }

    /// Checks the taxes in a country. "Field only supported in the United States" (`eligibleForStreamingServiceTaxRate`), and the types of
    /// streaming are "for the US" (`StreamingTaxType`).
    static func taxes(_ info: RegionalTaxRateInfo, in regionCode: String?, _ field: String) throws(PublisherError) {
        if let tier = info.taxTier { try value(tier, among: taxTiers, "\(field).taxTier") }
        if let type = info.streamingTaxType { try value(type, among: streamingTaxTypes, "\(field).streamingTaxType") }
        guard regionCode != unitedStates else { return }
        guard info.eligibleForStreamingServiceTaxRate != true else {
            throw .invalidValue("\(field).eligibleForStreamingServiceTaxRate", unitedStatesAlone)
        }
        guard (info.streamingTaxType ?? noStreamingTax) == noStreamingTax else {
            throw .invalidValue("\(field).streamingTaxType", unitedStatesAlone)
        }
    }
}

extension OneTimeProductTaxSettings {
    func check(_ field: String) throws(PublisherError) {
        try CatalogCheck.ages(regionalProductAgeRatingInfos, "\(field).regionalProductAgeRatingInfos")
        let (configs, configsField) = (regionalTaxConfigs ?? [], "\(field).regionalTaxConfigs")
        for config in configs {
            guard config.regionCode != nil else { throw .required("\(configsField).regionCode") }
        }
        try CatalogCheck.regions(configs.map(\.regionCode), configsField)
        for config in configs { try CatalogCheck.taxes(config.info, in: config.regionCode, configsField) }
    }
}

extension RegionalTaxConfig {
    init(_ info: RegionalTaxRateInfo, in regionCode: String) {
        self.init(
            regionCode: regionCode, taxTier: info.taxTier,
            eligibleForStreamingServiceTaxRate: info.eligibleForStreamingServiceTaxRate,
            streamingTaxType: info.streamingTaxType)
    }

    /// The taxes without their country.
    var info: RegionalTaxRateInfo {
        .init(
            taxTier: taxTier, eligibleForStreamingServiceTaxRate: eligibleForStreamingServiceTaxRate,
            streamingTaxType: streamingTaxType)
    }
}

extension TaxSettings {
    /// The settings of a one-time product and of its option for the older catalog; nil without any.
    init?(_ product: OneTimeProductTaxSettings?, _ option: PurchaseOptionTaxSettings?) {
        guard product != nil || option != nil else { return nil }
        self.init(
            eeaWithdrawalRightType: option?.withdrawalRightType,
            isTokenizedDigitalAsset: product?.isTokenizedDigitalAsset,
            productTaxCategoryCode: product?.productTaxCategoryCode,
            regionalProductAgeRatingInfos: product?.regionalProductAgeRatingInfos,
            taxRateInfoByRegionCode: product?.regionalTaxConfigs.map { configs in
                Dictionary(
                    configs.map { ($0.regionCode ?? "", $0.info) }, uniquingKeysWith: { first, _ in first })
            })
    }

    var ofProduct: OneTimeProductTaxSettings {
        .init(
            isTokenizedDigitalAsset: isTokenizedDigitalAsset, productTaxCategoryCode: productTaxCategoryCode,
            regionalProductAgeRatingInfos: regionalProductAgeRatingInfos,
            regionalTaxConfigs: taxRateInfoByRegionCode.map { rates in
                rates.sorted { $0.key < $1.key }.map { RegionalTaxConfig($0.value, in: $0.key) }
            })
    }

    var ofPurchaseOption: PurchaseOptionTaxSettings? {
        eeaWithdrawalRightType.map { .init(withdrawalRightType: $0) }
    }

    func check(_ field: String) throws(PublisherError) {
        try CatalogCheck.withdrawalRight(eeaWithdrawalRightType, "\(field).eeaWithdrawalRightType")
        try CatalogCheck.ages(regionalProductAgeRatingInfos, "\(field).regionalProductAgeRatingInfos")
        for (regionCode, info) in (taxRateInfoByRegionCode ?? [:]).sorted(by: { $0.key < $1.key }) {
            let place = "\(field).taxRateInfoByRegionCode"
            try CatalogCheck.region(regionCode, place)
            try CatalogCheck.taxes(info, in: regionCode, place)
        }
    }
}
