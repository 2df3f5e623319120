import Proofs

/// The rules of a one-time product in a catalog, and of changes to it.
extension OneTimeProduct: CatalogRules {
    static let noun = "The one-time product"
    private static let partNoun = "The purchase option"
    static let stateSubject = "PurchaseOption"
    static var offers: (any CatalogResource.Type)? { OneTimeProductOffer.self }
    var parts: [String] { (purchaseOptions ?? []).compactMap(\.purchaseOptionId) }

    /// The limits that Google documents.
    private static let titleLength = 55
    private static let descriptionLength = 200
    /// Google states none.
    private static let maximumIdentifierLength = 150

    static let maskedFields: [MaskedField<Self>] = [
        .init("listings", \.listings), .init("purchaseOptions", \.purchaseOptions), .init("offerTags", \.offerTags),
        .init("restrictedPaymentCountries", \.restrictedPaymentCountries),
        .init("taxAndComplianceSettings", \.taxAndComplianceSettings),
    ]

    /// The product of an app after the checks of all fields.
    ///
    /// - Throws: `PublisherError`, `required` or `invalidValue`, with the path of the field.
    package func checked(in packageName: String) throws(PublisherError) -> OneTimeProduct {
        guard let productId else { throw .required("oneTimeProduct.productId") }
        guard productId.utf8.count <= Self.maximumIdentifierLength,
            productId.wholeMatch(of: /[a-z0-9][a-z0-9_.]*/) != nil
        else {
            throw .invalidValue(
                "oneTimeProduct.productId",
                "it begins with a digit or small letter, and has digits, small letters, underscores and periods alone.")
        }
        let product = try placed(in: packageName)
        try checkListings()
        try CatalogCheck.tags(offerTags, "oneTimeProduct.offerTags")
        try taxAndComplianceSettings?.check("oneTimeProduct.taxAndComplianceSettings")
        guard let options = purchaseOptions, !options.isEmpty else { throw .required("oneTimeProduct.purchaseOptions") }
        try CatalogCheck.different(
            options.map { $0.purchaseOptionId ?? "" }, "purchaseOptionId", "oneTimeProduct.purchaseOptions")
        guard options.count(where: { $0.buyOption?.legacyCompatible == true }) <= 1 else {
            throw .invalidValue("oneTimeProduct.purchaseOptions", "at most one may be legacyCompatible.")
        }
        for option in options { try option.check() }
        return product
    }

    private func checkListings() throws(PublisherError) {
        guard let listings, !listings.isEmpty else { throw .required("oneTimeProduct.listings") }
        let languages = listings.compactMap(\.languageCode)
        guard languages.count == listings.count, Set(languages).count == languages.count else {
            throw .invalidValue("oneTimeProduct.listings", "each needs another languageCode.")
        }
        for listing in listings {
            guard let title = listing.title, (1...Self.titleLength).contains(title.count) else {
                throw .invalidValue("oneTimeProduct.listings.title", "1 to \(Self.titleLength) characters.")
            }
            guard (listing.description ?? "").count <= Self.descriptionLength else {
                throw .invalidValue(
                    "oneTimeProduct.listings.description", "at most \(Self.descriptionLength) characters.")
            }
        }
    }

    func settled(after known: Self?, regionsVersion: RegionsVersion) -> Self {
        var product = self
        product.regionsVersion = regionsVersion
        product.purchaseOptions = product.purchaseOptions?.map { option in
            var option = option
            option.state =
                known?.purchaseOptions?.first { $0.purchaseOptionId == option.purchaseOptionId }?.state ?? .draft
            return option
        }
        return product
    }

    /// - Throws: `PublisherError`, `notFound`, for an unknown option.
    func index(ofOption optionId: String?) throws(PublisherError) -> Int {
        try CatalogCheck.index(
            of: optionId, among: purchaseOptions?.map(\.purchaseOptionId), "purchaseOptionId", Self.partNoun)
    }

    mutating func apply(_ action: CatalogAction, at place: CatalogPlace) throws(PublisherError) {
        let index = try index(ofOption: place.purchaseOptionId)
        let state = try action.state(after: purchaseOptions?[index].state, of: Self.partNoun)
        purchaseOptions?[index].state = state
    }
}

extension OneTimeProduct.PurchaseOption {
    fileprivate func check() throws(PublisherError) {
        let field = "oneTimeProduct.purchaseOptions"
        try CatalogCheck.identifier(purchaseOptionId, "\(field).purchaseOptionId")
        try CatalogCheck.one(
            of: [buyOption != nil, rentOption != nil], field, "each needs either buyOption or rentOption.")
        if let rentOption { try rentOption.check("\(field).rentOption") }
        try CatalogCheck.tags(offerTags, "\(field).offerTags")
        try CatalogCheck.withdrawalRight(
            taxAndComplianceSettings?.withdrawalRightType, "\(field).taxAndComplianceSettings.withdrawalRightType")
        let configs = regionalPricingAndAvailabilityConfigs ?? []
        let configsField = "\(field).regionalPricingAndAvailabilityConfigs"
        try CatalogCheck.different(configs.map { $0.regionCode ?? "" }, "regionCode", configsField)
        for config in configs { try config.check(configsField) }
    }
}

extension OneTimeProduct.PurchaseOption.RentOption {
    fileprivate func check(_ field: String) throws(PublisherError) {
        guard rentalPeriod != nil else { throw .required("\(field).rentalPeriod") }
        for (name, text) in [("rentalPeriod", rentalPeriod), ("expirationPeriod", expirationPeriod)] {
            guard let text else { continue }
            guard RentalPeriod(text) != nil else {
                throw .invalidValue("\(field).\(name)", "a period of ISO 8601, such as P2D or PT48H.")
            }
        }
    }
}

extension OneTimeProduct.PurchaseOption.RegionalConfig {
    fileprivate func check(_ field: String) throws(PublisherError) {
        try CatalogCheck.region(regionCode, "\(field).regionCode")
        try CatalogCheck.value(availability, among: Self.availabilities, "\(field).availability")
        if let price {
            try CatalogCheck.price(price, in: regionCode, "\(field).price")
        } else if availability == Self.available {
            throw .required("\(field).price")
        }
    }
}
