/// The older catalog (`inappproducts`), a view of the one-time products: an in-app product is the purchase option for apps without
/// purchase options. Its first region has the default price, and its first listing the default language.
extension InAppProduct {
    private static let optionId = "legacy-base"
    private static let active = "active"
    private static let statuses = [active, "inactive"]

    /// The view of a product; nil for one without an option for apps without purchase options.
    init?(_ product: OneTimeProduct) {
        guard let option = product.purchaseOptions?.first(where: { $0.buyOption?.legacyCompatible == true }) else {
            return nil
        }
        self.init(packageName: product.packageName, sku: product.productId, purchaseType: "managedUser")
        status = option.state == .active ? Self.active : "inactive"
        let configs = (option.regionalPricingAndAvailabilityConfigs ?? []).filter { $0.price != nil }
        defaultPrice = configs.first?.price.map { .init($0) }
        prices = Dictionary(
            configs.compactMap { config in
                guard let regionCode = config.regionCode, let price = config.price else { return nil }
                return (regionCode, .init(price))
            }, uniquingKeysWith: { first, _ in first })
        let listed = product.listings ?? []
        defaultLanguage = listed.first?.languageCode
        listings = Dictionary(
            listed.map { ($0.languageCode ?? "", .init(title: $0.title, description: $0.description)) },
            uniquingKeysWith: { first, _ in first })
        managedProductTaxesAndComplianceSettings = TaxSettings(
            product.taxAndComplianceSettings, option.taxAndComplianceSettings)
    }

    /// The product with the fields of another, where that one has them (`patch`).
    func patched(by other: InAppProduct) -> InAppProduct {
        var product = self
        product.status = other.status ?? status
        product.purchaseType = other.purchaseType ?? purchaseType
        product.defaultPrice = other.defaultPrice ?? defaultPrice
        // Regions at the default price follow it.
        product.prices = other.prices ?? prices?.mapValues { $0 == defaultPrice ? other.defaultPrice ?? $0 : $0 }
        product.listings = other.listings ?? listings
        product.defaultLanguage = other.defaultLanguage ?? defaultLanguage
        product.managedProductTaxesAndComplianceSettings =
            other.managedProductTaxesAndComplianceSettings ?? managedProductTaxesAndComplianceSettings
        return product
    }

    /// The one-time product of which this is the view.
    ///
    /// - Parameters:
    ///   - known: The product before the change, whose other options stay.
    ///   - convertsMissing: True to convert the default price for the regions without a price.
    /// - Throws: `PublisherError`, `required` or `invalidValue`.
    func product(after known: OneTimeProduct?, convertsMissing: Bool) throws(PublisherError) -> OneTimeProduct {
        guard let sku else { throw .required("inappproduct.sku") }
        guard (purchaseType ?? "managedUser") == "managedUser" else {
            throw .invalidValue("inappproduct.purchaseType", "managedUser. Subscriptions have an API of their own.")
        }
        guard Self.statuses.contains(status ?? Self.active) else {
            throw .invalidValue("inappproduct.status", Self.statuses.joined(separator: " or ") + ".")
        }
        let taxes = managedProductTaxesAndComplianceSettings
        try taxes?.check("inappproduct.managedProductTaxesAndComplianceSettings")
        var product = known ?? OneTimeProduct(productId: sku)
        product.productId = sku
        product.taxAndComplianceSettings = taxes?.ofProduct
        product.listings = try productListings()
        let kept = product.purchaseOptions?.first { $0.buyOption?.legacyCompatible == true }
        var option = kept ?? OneTimeProduct.PurchaseOption(purchaseOptionId: Self.optionId)
        option.state = (status ?? Self.active) == Self.active ? .active : .inactive
        if option.buyOption == nil { option.buyOption = .init(legacyCompatible: true) }
        option.regionalPricingAndAvailabilityConfigs = try configs(convertsMissing: convertsMissing)
        option.taxAndComplianceSettings = taxes?.ofPurchaseOption
        let others = (product.purchaseOptions ?? []).filter { $0.purchaseOptionId != option.purchaseOptionId }
        product.purchaseOptions = [option] + others
        return product
    }

    private func productListings() throws(PublisherError) -> [OneTimeProduct.Listing] {
        guard let defaultLanguage else { throw .required("inappproduct.defaultLanguage") }
        guard let listings, let first = listings[defaultLanguage] else { throw .required("inappproduct.listings") }
        let others = listings.filter { $0.key != defaultLanguage }.sorted { $0.key < $1.key }
        return ([(key: defaultLanguage, value: first)] + others).map {
            .init(languageCode: $0.key, title: $0.value.title, description: $0.value.description)
        }
    }

    /// The regions with their prices, the one of the default price first.
    private func configs(convertsMissing: Bool) throws(PublisherError)
        -> [OneTimeProduct.PurchaseOption.RegionalConfig]
    {
        guard let defaultPrice else { throw .required("inappproduct.defaultPrice") }
        guard let price = defaultPrice.money else {
            throw .invalidValue("inappproduct.defaultPrice", "it needs a currency and priceMicros.")
        }
        var amounts: [String: Money] = [:]
        for (regionCode, amount) in prices ?? [:] {
            guard let money = amount.money else {
                throw .invalidValue("inappproduct.prices", "each needs a currency and priceMicros.")
            }
            amounts[regionCode] = money
        }
        let regions = PlayRegion.all.keys.sorted().filter { PlayRegion.all[$0]?.currency == price.currencyCode }
        // The home of the default price is a region that has it, or else the first one with its currency.
        let home = amounts.keys.sorted().first { amounts[$0] == price } ?? regions.first { amounts[$0] == nil }
        if let home { amounts[home] = price }
        if convertsMissing {
            for (regionCode, region) in PlayRegion.all where amounts[regionCode] == nil {
                amounts[regionCode] = try PlayExchange.convert(price, to: region.currency).price
            }
        }
        return amounts.sorted { ($0.key != home ? 1 : 0, $0.key) < ($1.key != home ? 1 : 0, $1.key) }.map {
            .init(
                regionCode: $0.key, price: $0.value,
                availability: OneTimeProduct.PurchaseOption.RegionalConfig.available)
        }
    }
}

extension ExternalTransaction.Amount {
    init(_ money: Money) {
        self.init(currency: money.currencyCode, micros: (money.billionths ?? 0) / 1000)
    }

    /// The amount; nil without a currency or an amount.
    fileprivate var money: Money? {
        guard let currency, let micros = priceMicros?.value, (0...Money.maximumUnits * 1_000_000).contains(micros)
        else {
            return nil
        }
        return Money(currencyCode: currency, billionths: micros * 1000)
    }
}

/// The methods of the API on the older catalog.
extension PlayBooks {
    private func place(_ sku: String, in packageName: String) -> CatalogPlace {
        CatalogPlace(packageName: packageName, productId: sku)
    }

    /// `inappproducts.get`.
    func inAppProduct(_ sku: String, in packageName: String) throws -> InAppProduct {
        guard let product = InAppProduct(try found(at: place(sku, in: packageName))) else {
            throw PublisherError.notFound("The in-app product \(sku.prefix(150))")
        }
        return product
    }

    /// `inappproducts.batchGet`. An unknown product fails all.
    func inAppProducts(_ skus: [String], in packageName: String) throws -> InAppProductRequests.Batch {
        try PublisherPage.checkBatch(skus, of: "sku")
        return .init(inappproduct: try skus.map { try inAppProduct($0, in: packageName) })
    }

    /// `inappproducts.list`, in pages of `maxResults`.
    func inAppProducts(in packageName: String, _ parameters: PublisherParameters) throws -> InAppProductRequests.Page {
        let page = try PublisherPage(parameters, size: "maxResults", token: "token")
        let start = try parameters.integer("startIndex") ?? 0
        guard start >= 0 else { throw PublisherError.invalidValue("startIndex", "it may not be negative.") }
        let all: [(path: String, resource: OneTimeProduct)] = try resources(
            of: packageName, after: page.after, limit: .max)
        let views = all.compactMap { InAppProduct($0.resource) }
        let found = page.after.isEmpty ? Array(views.dropFirst(start)) : views
        var answer = InAppProductRequests.Page(kind: InAppProductRequests.Page.kind)
        answer.inappproduct = found.isEmpty ? nil : Array(found.prefix(page.limit))
        answer.tokenPagination = page.next(found.map { $0.sku ?? "" }).map { .init(nextPageToken: $0) }
        return answer
    }

    /// `inappproducts.insert`.
    func insert(_ product: InAppProduct, convertsMissing: Bool, in packageName: String) throws -> InAppProduct {
        let sku = product.sku ?? ""
        let known: OneTimeProduct? = try resource([sku], of: packageName)
        guard known == nil else { throw PublisherError.alreadyExists("The in-app product \(sku.prefix(150))") }
        return try write(product, after: nil, convertsMissing: convertsMissing, in: packageName)
    }

    /// `inappproducts.update` and `patch`, and each request of `batchUpdate`.
    ///
    /// - Parameter isPatch: True if missing fields stay as they are.
    func update(_ request: InAppProductRequests.Update, isPatch: Bool, in packageName: String) throws -> InAppProduct {
        guard var product = request.inappproduct else { throw PublisherError.required("inappproduct") }
        guard let sku = request.sku ?? product.sku else { throw PublisherError.required("sku") }
        for (name, stated, expected) in [
            ("inappproduct.sku", product.sku, sku), ("packageName", request.packageName, packageName),
            ("inappproduct.packageName", product.packageName, packageName),
        ] where stated.map({ $0 != expected }) ?? false {
            throw PublisherError.invalidValue(name, "it has to be that of the path.")
        }
        product.sku = sku
        let known: OneTimeProduct? = try resource([sku], of: packageName)
        guard known != nil || request.allowMissing == true else {
            throw PublisherError.notFound("The in-app product \(sku.prefix(150))")
        }
        if isPatch, let view = known.flatMap({ InAppProduct($0) }) { product = view.patched(by: product) }
        return try write(
            product, after: known, convertsMissing: request.autoConvertMissingPrices ?? false, in: packageName)
    }

    private func write(
        _ product: InAppProduct, after known: OneTimeProduct?, convertsMissing: Bool, in packageName: String
    ) throws -> InAppProduct {
        let checked = try product.product(after: known, convertsMissing: convertsMissing).checked(in: packageName)
        try keep(checked)
        return try inAppProduct(checked.productId ?? "", in: packageName)
    }

    /// `inappproducts.batchUpdate`: all requests, or none.
    func update(_ batch: InAppProductRequests.BatchUpdate, in packageName: String) throws
        -> InAppProductRequests.BatchUpdated
    {
        let requests = try checked(CatalogBatch(requests: batch.requests)) { $0.sku ?? $0.inappproduct?.sku ?? "" }
        return .init(inappproducts: try requests.map { try update($0, isPatch: false, in: packageName) })
    }

    /// `inappproducts.delete`, and each request of `batchDelete`.
    func delete(sku: String?, in packageName: String) throws {
        guard let sku, !sku.isEmpty else { throw PublisherError.required("sku") }
        try delete(OneTimeProduct.self, at: place(sku, in: packageName))
    }

    /// `inappproducts.batchDelete`: all requests, or none.
    func delete(_ batch: InAppProductRequests.BatchDelete, in packageName: String) throws {
        for request in try checked(CatalogBatch(requests: batch.requests), { $0.sku ?? "" }) {
            try delete(sku: request.sku, in: packageName)
        }
    }
}
