import Proofs

/// The rules of a subscription's offer, and of changes to it.
extension CatalogOffer: CatalogRules {
    static let noun = "The offer"
    static let stateSubject = "SubscriptionOffer"
    static let maskedFields: [MaskedField<Self>] = [
        .init("phases", \.phases), .init("targeting", \.targeting), .init("regionalConfigs", \.regionalConfigs),
        .init("otherRegionsConfig", \.otherRegionsConfig), .init("offerTags", \.offerTags),
    ]

    /// The maximum number of repetitions of a phase. Google states none.
    private static let maximumRecurrence: Int32 = 1000

    /// The offer after the checks of its fields. An offer of a file may leave out its regions.
    ///
    /// - Throws: `PublisherError`, `required` or `invalidValue`.
    package func checked(in packageName: String) throws(PublisherError) -> CatalogOffer {
        guard productId != nil else { throw .required("subscriptionOffer.productId") }
        try CatalogCheck.identifier(basePlanId, "subscriptionOffer.basePlanId")
        try CatalogCheck.identifier(offerId, "subscriptionOffer.offerId")
        let offer = try placed(in: packageName)
        guard let phases, (1...2).contains(phases.count) else {
            throw .invalidValue("subscriptionOffer.phases", "1 or 2.")
        }
        try CatalogCheck.tags(offerTags, "subscriptionOffer.offerTags")
        if let regionalConfigs {
            guard !regionalConfigs.isEmpty else { throw .required("subscriptionOffer.regionalConfigs") }
            try CatalogCheck.regions(regionalConfigs.map(\.regionCode), "subscriptionOffer.regionalConfigs")
        }
        let regions = (regionalConfigs?.compactMap(\.regionCode)).map { Set($0) }
        for phase in phases { try phase.check(regions, Self.maximumRecurrence) }
        try checkTargeting()
        return offer
    }

    /// Checks that the offer is for new customers, or for those of another plan, with a scope that Google allows.
    private func checkTargeting() throws(PublisherError) {
        guard let targeting else { return }
        let field = "subscriptionOffer.targeting"
        switch (targeting.acquisitionRule, targeting.upgradeRule) {
        case (let rule?, nil):
            guard (rule.scope?.thisSubscription == nil) != (rule.scope?.anySubscriptionInApp == nil) else {
                throw .invalidValue(
                    "\(field).acquisitionRule.scope", "one of thisSubscription and anySubscriptionInApp.")
            }
        case (nil, let rule?):
            guard (rule.scope?.thisSubscription == nil) != (rule.scope?.specificSubscriptionInApp == nil) else {
                throw .invalidValue(
                    "\(field).upgradeRule.scope", "one of thisSubscription and specificSubscriptionInApp.")
            }
            guard rule.billingPeriodDuration.map({ SubscriptionPeriod($0) != nil }) ?? true else {
                throw .invalidValue("\(field).upgradeRule.billingPeriodDuration", "write a period such as P1M.")
            }
        default: throw .invalidValue(field, "it needs either acquisitionRule or upgradeRule.")
        }
    }

    func settled(after known: Self?, regionsVersion: OneTimeProduct.RegionsVersion) throws(PublisherError) -> Self {
        guard regionalConfigs != nil else { throw .required("subscriptionOffer.regionalConfigs") }
        var offer = self
        offer.state = known?.state ?? .draft
        return offer
    }

    func checkParent(in books: PlayBooks) throws {
        let place = CatalogPlace(packageName: packageName, productId: productId, basePlanId: basePlanId)
        let product: CatalogSubscription = try books.found(at: place)
        let index = try product.index(ofPlan: basePlanId)
        guard product.basePlans?[index].prepaidBasePlanType == nil else {
            throw PublisherError.invalidValue(
                "subscriptionOffer.basePlanId", "only auto-renewing base plans can have offers.")
        }
    }

    func checkDeletion() throws(PublisherError) {
        guard state == .draft else { throw .failedPrecondition("Only a draft of an offer can be deleted.") }
    }

    mutating func apply(_ action: CatalogAction, at place: CatalogPlace) throws(PublisherError) {
        state = try action.state(after: state, of: Self.noun)
    }
}

extension CatalogOffer.Phase {
    /// - Parameter regions: The regions of the offer; nil for any.
    fileprivate func check(_ regions: Set<String>?, _ maximumRecurrence: Int32) throws(PublisherError) {
        let field = "subscriptionOffer.phases"
        guard duration.flatMap({ SubscriptionPeriod($0) }) != nil else {
            throw .invalidValue("\(field).duration", "a period of ISO 8601, such as P1M.")
        }
        guard (1...maximumRecurrence).contains(recurrenceCount ?? 1) else {
            throw .invalidValue("\(field).recurrenceCount", "1 to \(maximumRecurrence).")
        }
        let configs = regionalConfigs ?? []
        try CatalogCheck.regions(configs.map(\.regionCode), "\(field).regionalConfigs")
        guard regions.map({ $0 == Set(configs.compactMap(\.regionCode)) }) ?? true else {
            throw .invalidValue("\(field).regionalConfigs", "the regions of the offer, each once.")
        }
        for config in configs {
            let kinds = [
                config.price != nil, config.relativeDiscount != nil, config.absoluteDiscount != nil, config.free != nil,
            ]
            try CatalogCheck.one(
                of: kinds, "\(field).regionalConfigs",
                "each needs one of price, relativeDiscount, absoluteDiscount and free.")
            if let price = config.price {
                try CatalogCheck.price(price, in: config.regionCode, "\(field).regionalConfigs.price")
            }
            if let discount = config.absoluteDiscount {
                try CatalogCheck.price(discount, in: config.regionCode, "\(field).regionalConfigs.absoluteDiscount")
            }
            if let share = config.relativeDiscount {
                try CatalogCheck.share(share, "\(field).regionalConfigs.relativeDiscount")
            }
        }
    }
}

/// The rules of a one-time product's offer, and of changes to it.
extension OneTimeProductOffer: CatalogRules {
    static let noun = "The offer"
    static let stateSubject = "OneTimeProductOffer"
    static let maskedFields: [MaskedField<Self>] = [
        .init("discountedOffer", \.discountedOffer), .init("preOrderOffer", \.preOrderOffer),
        .init("gameRewardOffer", \.gameRewardOffer), .init("offerTags", \.offerTags),
        .init("regionalPricingAndAvailabilityConfigs", \.regionalPricingAndAvailabilityConfigs),
    ]

    private static let redemptions: ClosedRange<Int64> = 0...50
    private static let availabilities = ["AVAILABLE", "NO_LONGER_AVAILABLE"]
    private static let priceChangeBehaviors = [
        "PRE_ORDER_PRICE_CHANGE_BEHAVIOR_TWO_POINT_LOWEST", "PRE_ORDER_PRICE_CHANGE_BEHAVIOR_NEW_ORDERS_ONLY",
    ]

    package func checked(in packageName: String) throws(PublisherError) -> OneTimeProductOffer {
        guard productId != nil else { throw .required("oneTimeProductOffer.productId") }
        try CatalogCheck.identifier(purchaseOptionId, "oneTimeProductOffer.purchaseOptionId")
        try CatalogCheck.identifier(offerId, "oneTimeProductOffer.offerId")
        let offer = try placed(in: packageName)
        try CatalogCheck.one(
            of: [discountedOffer != nil, preOrderOffer != nil, gameRewardOffer != nil], "oneTimeProductOffer",
            "it needs one of discountedOffer, preOrderOffer and gameRewardOffer.")
        let limit = discountedOffer?.redemptionLimit ?? gameRewardOffer?.redemptionLimit
        guard Self.redemptions.contains(limit?.value ?? 0) else {
            throw .invalidValue("oneTimeProductOffer.redemptionLimit", "0 to \(Self.redemptions.upperBound).")
        }
        if let start = discountedOffer?.startTime, let end = discountedOffer?.endTime {
            guard start.moment < end.moment else {
                throw .invalidValue("oneTimeProductOffer.discountedOffer.endTime", "it has to be after startTime.")
            }
        }
        try checkPreOrder()
        try CatalogCheck.tags(offerTags, "oneTimeProductOffer.offerTags")
        let configs = regionalPricingAndAvailabilityConfigs ?? []
        let field = "oneTimeProductOffer.regionalPricingAndAvailabilityConfigs"
        try CatalogCheck.regions(configs.map(\.regionCode), field)
        for config in configs { try config.check(Self.availabilities, field) }
        return offer
    }

    private func checkPreOrder() throws(PublisherError) {
        guard let preOrderOffer else { return }
        let field = "oneTimeProductOffer.preOrderOffer"
        guard let start = preOrderOffer.startTime, let end = preOrderOffer.endTime,
            let release = preOrderOffer.releaseTime
        else { throw .required("\(field).releaseTime") }
        guard start.moment < end.moment, end.moment <= release.moment else {
            throw .invalidValue("\(field).releaseTime", "startTime, endTime and releaseTime follow each other.")
        }
        try CatalogCheck.value(
            preOrderOffer.priceChangeBehavior, among: Self.priceChangeBehaviors, "\(field).priceChangeBehavior")
    }

    func settled(after known: Self?, regionsVersion: OneTimeProduct.RegionsVersion) throws(PublisherError) -> Self {
        guard known.map({ $0.preOrderOffer?.priceChangeBehavior == preOrderOffer?.priceChangeBehavior }) ?? true else {
            throw .invalidValue("oneTimeProductOffer.preOrderOffer.priceChangeBehavior", "it cannot be changed.")
        }
        var offer = self
        (offer.state, offer.regionsVersion) = (known?.state ?? .draft, regionsVersion)
        return offer
    }

    func checkParent(in books: PlayBooks) throws {
        let place = CatalogPlace(packageName: packageName, productId: productId)
        let product: OneTimeProduct = try books.found(at: place)
        _ = try product.index(ofOption: purchaseOptionId)
    }

    /// A pre-order is cancelled, and another offer is deactivated.
    mutating func apply(_ action: CatalogAction, at place: CatalogPlace) throws(PublisherError) {
        guard action == .activate || (action == .cancel) == (preOrderOffer != nil) else {
            throw .failedPrecondition("Only a pre-order is cancelled, and only another offer is deactivated.")
        }
        state = try action.state(after: state, of: Self.noun)
    }
}

extension OneTimeProductOffer {
    /// True if the offer is active, and the moment is among its times.
    func isSold(at now: Timestamp) -> Bool {
        let start = discountedOffer?.startTime ?? preOrderOffer?.startTime
        let end = discountedOffer?.endTime ?? preOrderOffer?.endTime
        return state == .active && start.map { $0.moment <= now } ?? true && end.map { now < $0.moment } ?? true
    }

    /// The price of a purchase option with the offer; nil if the offer is not for the region.
    func price(of full: Money, in regionCode: String) -> Money? {
        let config = regionalPricingAndAvailabilityConfigs?.first { $0.regionCode == regionCode }
        guard let config, config.availability == Self.availabilities[0] else { return nil }
        if let discount = config.absoluteDiscount?.billionths {
            return Money(currencyCode: full.currencyCode, billionths: max(0, (full.billionths ?? 0) - discount))
        }
        return config.relativeDiscount.map { full.reduced(by: $0) } ?? full
    }

    /// - Parameter count: The number of earlier purchases with the offer by the customer.
    func isRedeemable(after count: Int) -> Bool {
        let limit = (discountedOffer?.redemptionLimit ?? gameRewardOffer?.redemptionLimit)?.value ?? 0
        return limit == 0 || count < limit
    }
}

extension OneTimeProductOffer.PreOrder {
    private static let lowestPrice = "PRE_ORDER_PRICE_CHANGE_BEHAVIOR_TWO_POINT_LOWEST"

    /// Nil without a release, which a checked offer has.
    var preorder: OneTimePurchase.Preorder? {
        releaseTime.map { .init(releaseTime: $0.moment, keepsPrice: priceChangeBehavior != Self.lowestPrice) }
    }
}

extension OneTimeProductOffer.RegionalConfig {
    fileprivate func check(_ availabilities: [String], _ field: String) throws(PublisherError) {
        try CatalogCheck.value(availability, among: availabilities, "\(field).availability")
        try CatalogCheck.one(
            of: [absoluteDiscount != nil, relativeDiscount != nil, noOverride != nil], field,
            "each needs one of absoluteDiscount, relativeDiscount and noOverride.")
        if let absoluteDiscount {
            try CatalogCheck.price(absoluteDiscount, in: regionCode, "\(field).absoluteDiscount")
        }
        if let relativeDiscount { try CatalogCheck.share(relativeDiscount, "\(field).relativeDiscount") }
    }
}
