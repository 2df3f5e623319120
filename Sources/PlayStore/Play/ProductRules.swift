import Proofs

/// The rules of a one-time product in a catalog, and of changes to it.
extension OneTimeProduct {
    /// The limits that Google documents.
    private static let titleLength = 55
    private static let descriptionLength = 200
    private static let optionIdentifierLength = 63
    private static let maximumTags = 20
    /// Google states none.
    private static let maximumIdentifierLength = 150

    /// The members that an update mask names.
    private static let maskedFields = [
        "listings", "purchaseOptions", "offerTags", "restrictedPaymentCountries", "taxAndComplianceSettings",
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
        guard self.packageName.map({ $0 == packageName }) ?? true else {
            throw .invalidValue("oneTimeProduct.packageName", "it has to be that of the path.")
        }
        try checkListings()
        guard (offerTags ?? []).count <= Self.maximumTags else {
            throw .invalidValue("oneTimeProduct.offerTags", "at most \(Self.maximumTags).")
        }
        guard let options = purchaseOptions, !options.isEmpty else { throw .required("oneTimeProduct.purchaseOptions") }
        let identifiers = options.map { $0.purchaseOptionId ?? "" }
        guard Set(identifiers).count == identifiers.count else {
            throw .invalidValue("oneTimeProduct.purchaseOptions", "each needs another purchaseOptionId.")
        }
        guard options.count(where: { $0.buyOption?.legacyCompatible == true }) <= 1 else {
            throw .invalidValue("oneTimeProduct.purchaseOptions", "at most one may be legacyCompatible.")
        }
        for option in options { try option.check(Self.optionIdentifierLength, maximumTags: Self.maximumTags) }
        var product = self
        product.packageName = packageName
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

    /// The product with the states of the options that it has already. An update changes no state, and a new option is a draft.
    package func keepingStates(of known: OneTimeProduct?) -> OneTimeProduct {
        var product = self
        product.purchaseOptions = product.purchaseOptions?.map { option in
            var option = option
            option.state =
                known?.purchaseOptions?.first { $0.purchaseOptionId == option.purchaseOptionId }?.state ?? .draft
            return option
        }
        return product
    }

    /// The product with those fields of an update that its mask names. The local Play replaces whole fields, and no part of one.
    ///
    /// - Throws: `PublisherError` for a missing mask, or one of other fields.
    package func updated(to update: OneTimeProduct, mask: String?) throws(PublisherError) -> OneTimeProduct {
        guard let mask, !mask.isEmpty else { throw .required("updateMask") }
        var product = self
        let fields = mask.split(separator: ",").map(String.init)
        for field in fields == ["*"] ? Self.maskedFields : fields {
            switch field {
            case "listings": product.listings = update.listings
            case "purchaseOptions": product.purchaseOptions = update.purchaseOptions
            case "offerTags": product.offerTags = update.offerTags
            case "restrictedPaymentCountries": product.restrictedPaymentCountries = update.restrictedPaymentCountries
            case "taxAndComplianceSettings": product.taxAndComplianceSettings = update.taxAndComplianceSettings
            default:
                throw .invalidValue(
                    "updateMask", "the local Play knows \(Self.maskedFields.joined(separator: ", ")) and *.")
            }
        }
        return product
    }

    /// The product with another state of an option.
    ///
    /// - Throws: `PublisherError`, `notFound`, for an unknown option.
    package func setting(_ state: PurchaseOption.State, of optionId: String?) throws(PublisherError) -> OneTimeProduct {
        guard let optionId else { throw .required("purchaseOptionId") }
        guard let index = purchaseOptions?.firstIndex(where: { $0.purchaseOptionId == optionId }) else {
            throw .notFound("The purchase option \(optionId.prefix(64))")
        }
        var product = self
        product.purchaseOptions?[index].state = state
        return product
    }
}

extension OneTimeProduct.PurchaseOption {
    fileprivate func check(_ maximumLength: Int, maximumTags: Int) throws(PublisherError) {
        let field = "oneTimeProduct.purchaseOptions"
        guard let purchaseOptionId else { throw .required("\(field).purchaseOptionId") }
        guard purchaseOptionId.utf8.count <= maximumLength, purchaseOptionId.wholeMatch(of: /[a-z0-9][a-z0-9-]*/) != nil
        else {
            throw .invalidValue(
                "\(field).purchaseOptionId",
                "it begins with a digit or small letter, and has at most \(maximumLength) digits, small letters and hyphens."
            )
        }
        guard (buyOption == nil) != (rentOption == nil) else {
            throw .invalidValue(field, "each needs either buyOption or rentOption.")
        }
        guard (offerTags ?? []).count <= maximumTags else {
            throw .invalidValue("\(field).offerTags", "at most \(maximumTags).")
        }
        let configs = regionalPricingAndAvailabilityConfigs ?? []
        guard Set(configs.map { $0.regionCode ?? "" }).count == configs.count else {
            throw .invalidValue("\(field).regionalPricingAndAvailabilityConfigs", "each needs another regionCode.")
        }
        for config in configs { try config.check("\(field).regionalPricingAndAvailabilityConfigs") }
    }
}

extension OneTimeProduct.PurchaseOption.RegionalConfig {
    fileprivate func check(_ field: String) throws(PublisherError) {
        guard let regionCode, regionCode.wholeMatch(of: /[A-Z]{2}/) != nil else {
            throw .invalidValue("\(field).regionCode", "a country of ISO 3166-1 alpha-2, such as US.")
        }
        guard let availability, Self.availabilities.contains(availability) else {
            throw .invalidValue("\(field).availability", "one of \(Self.availabilities.joined(separator: ", ")).")
        }
        if let price {
            guard price.currencyCode.wholeMatch(of: /[A-Z]{3}/) != nil, (price.billionths ?? 0) > 0 else {
                throw .invalidValue(
                    "\(field).price", "an amount of at most \(Money.maximumUnits) units of a currency of ISO 4217.")
            }
        } else if availability == Self.available {
            throw .required("\(field).price")
        }
    }
}
