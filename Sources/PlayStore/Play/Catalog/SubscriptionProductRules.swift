import Proofs

/// The rules of a subscription in a catalog, and of changes to it.
extension CatalogSubscription: CatalogRules {
    static let noun = "The subscription"
    private static let partNoun = "The base plan"
    static let stateSubject = "BasePlan"
    static var offers: (any CatalogResource.Type)? { CatalogOffer.self }
    var parts: [String] { (basePlans ?? []).compactMap(\.basePlanId) }

    /// The limits that Google documents.
    private static let descriptionLength = 200
    private static let maximumBenefits = 4

    static let maskedFields: [MaskedField<Self>] = [
        .init("listings", \.listings), .init("basePlans", \.basePlans),
        .init("restrictedPaymentCountries", \.restrictedPaymentCountries),
        .init("taxAndComplianceSettings", \.taxAndComplianceSettings),
    ]

    /// The subscription of an app after the checks of all fields.
    ///
    /// - Throws: `PublisherError`, `required` or `invalidValue`, with the path of the field.
    package func checked(in packageName: String) throws(PublisherError) -> CatalogSubscription {
        guard let productId else { throw .required("subscription.productId") }
        guard productId.utf8.count <= 40, productId.wholeMatch(of: /[a-z0-9][a-z0-9_.]*/) != nil else {
            throw .invalidValue(
                "subscription.productId",
                "it has 1 to 40 digits, small letters, underscores and periods, and begins with a digit or letter.")
        }
        let product = try placed(in: packageName)
        guard let listings, !listings.isEmpty, listings.allSatisfy({ $0.languageCode != nil && $0.title != nil }) else {
            throw .required("subscription.listings")
        }
        for listing in listings {
            guard (listing.description ?? "").count <= Self.descriptionLength else {
                throw .invalidValue(
                    "subscription.listings.description", "at most \(Self.descriptionLength) characters.")
            }
            guard (listing.benefits ?? []).count <= Self.maximumBenefits else {
                throw .invalidValue("subscription.listings.benefits", "at most \(Self.maximumBenefits).")
            }
        }
        try taxAndComplianceSettings?.check("subscription.taxAndComplianceSettings")
        try CatalogCheck.different(
            (basePlans ?? []).map { $0.basePlanId ?? "" }, "basePlanId", "subscription.basePlans")
        for plan in basePlans ?? [] { try plan.check() }
        return product
    }

    func settled(after known: Self?, regionsVersion: OneTimeProduct.RegionsVersion) throws(PublisherError) -> Self {
        var product = self
        product.archived = known?.archived
        var plans: [BasePlan] = []
        for plan in basePlans ?? [] {
            let old = known?.basePlans?.first { $0.basePlanId == plan.basePlanId }
            guard old.map({ $0.typeOfPlan == plan.typeOfPlan && $0.billingPeriod == plan.billingPeriod }) ?? true else {
                throw .invalidValue(
                    "subscription.basePlans.billingPeriodDuration", "a base plan keeps its type and its period.")
            }
            var plan = plan
            plan.state = old?.state ?? .draft
            plans.append(plan)
        }
        for old in known?.basePlans ?? [] where old.state != .draft {
            guard plans.contains(where: { $0.basePlanId == old.basePlanId }) else {
                throw .invalidValue(
                    "subscription.basePlans", "the base plan \(old.basePlanId ?? "") is no draft, and stays.")
            }
        }
        product.basePlans = basePlans == nil ? nil : plans
        return product
    }

    func checkDeletion() throws(PublisherError) {
        guard (basePlans ?? []).allSatisfy({ $0.state == .draft }) else {
            throw .failedPrecondition("A subscription can only be deleted if it has never had a base plan published.")
        }
    }

    /// - Throws: `PublisherError`, `notFound`, for an unknown plan.
    func index(ofPlan planId: String?) throws(PublisherError) -> Int {
        try CatalogCheck.index(of: planId, among: basePlans?.map(\.basePlanId), "basePlanId", Self.partNoun)
    }

    mutating func apply(_ action: CatalogAction, at place: CatalogPlace) throws(PublisherError) {
        let index = try index(ofPlan: place.basePlanId)
        let state = try action.state(after: basePlans?[index].state, of: Self.partNoun)
        basePlans?[index].state = state
    }
}

extension CatalogSubscription.BasePlan {
    /// The days of grace, and of grace and hold together.
    private static let graceDays: ClosedRange<Int64> = 0...30
    private static let declinedDays: ClosedRange<Int64> = 30...60

    private static let renewalTypes = [
        "RENEWAL_TYPE_RENEWS_WITHOUT_COMMITMENT", "RENEWAL_TYPE_RENEWS_WITH_COMMITMENT",
    ]

    fileprivate func check() throws(PublisherError) {
        let field = "subscription.basePlans"
        try CatalogCheck.identifier(basePlanId, "\(field).basePlanId")
        try CatalogCheck.tags(offerTags, "\(field).offerTags")
        try CatalogCheck.one(
            of: [autoRenewingBasePlanType != nil, prepaidBasePlanType != nil, installmentsBasePlanType != nil], field,
            "each needs one type of plan.")
        guard period != nil else {
            throw .invalidValue("\(field).billingPeriodDuration", "a period of ISO 8601, such as P1M.")
        }
        if let installments = installmentsBasePlanType {
            guard (installments.committedPaymentsCount ?? 0) > 0 else {
                throw .invalidValue("\(field).committedPaymentsCount", "a positive number.")
            }
            guard Self.renewalTypes.contains(installments.renewalType ?? "") else {
                throw .invalidValue("\(field).renewalType", "\(Self.renewalTypes.joined(separator: " or ")).")
            }
        }
        let (grace, hold) = declinedDurations
        for (name, text) in [("gracePeriodDuration", grace), ("accountHoldDuration", hold)]
        where text != nil && Self.days(text) == nil {
            throw .invalidValue("\(field).\(name)", "days of ISO 8601, such as P7D.")
        }
        guard
            prepaidBasePlanType != nil
                || Self.graceDays.contains(graceDays) && Self.declinedDays.contains(graceDays + holdDays)
        else { throw .invalidValue(field, "a grace of 0 to 30 days, and with the hold 30 to 60 days.") }
        guard (period?.days ?? .max) >= graceDays else {
            throw .invalidValue("\(field).gracePeriodDuration", "at most the billing period.")
        }
        try CatalogCheck.regions((regionalConfigs ?? []).map(\.regionCode), "\(field).regionalConfigs")
        for config in regionalConfigs ?? [] {
            if let price = config.price {
                try CatalogCheck.price(price, in: config.regionCode, "\(field).regionalConfigs.price")
            } else if config.newSubscriberAvailability == true {
                throw .required("\(field).regionalConfigs.price")
            }
        }
    }

    fileprivate var typeOfPlan: String {
        prepaidBasePlanType != nil ? "prepaid" : installmentsBasePlanType != nil ? "installments" : "autoRenewing"
    }

    /// The billing period as it is written.
    var billingPeriod: String? {
        autoRenewingBasePlanType?.billingPeriodDuration ?? prepaidBasePlanType?.billingPeriodDuration
            ?? installmentsBasePlanType?.billingPeriodDuration
    }

    /// The days of grace and hold together, if a plan names no hold.
    private static let standardDays: Int64 = 60

    package var period: SubscriptionPeriod? {
        billingPeriod.flatMap { SubscriptionPeriod($0) }
    }

    /// The texts of grace and hold of a plan that renews.
    var declinedDurations: (grace: String?, hold: String?) {
        guard let installments = installmentsBasePlanType else {
            return (autoRenewingBasePlanType?.gracePeriodDuration, autoRenewingBasePlanType?.accountHoldDuration)
        }
        return (installments.gracePeriodDuration, installments.accountHoldDuration)
    }

    package var graceDays: Int64 { Self.days(declinedDurations.grace) ?? 0 }

    package var holdDays: Int64 { Self.days(declinedDurations.hold) ?? Self.standardDays - graceDays }

    /// False if nobody resubscribes to the plan in the Play.
    package var allowsResubscription: Bool {
        (autoRenewingBasePlanType?.resubscribeState ?? installmentsBasePlanType?.resubscribeState)
            != "RESUBSCRIBE_STATE_INACTIVE"
    }

    /// True if the full price is charged when another plan of the subscription changes to this one.
    package var chargesChangesAtOnce: Bool {
        (autoRenewingBasePlanType?.prorationMode ?? installmentsBasePlanType?.prorationMode)
            == "SUBSCRIPTION_PRORATION_MODE_CHARGE_FULL_PRICE_IMMEDIATELY"
    }

    /// The commitment of a plan in installments; nil for another plan.
    package var commitment: RecurringPurchase.Commitment? {
        installmentsBasePlanType.map {
            .init(
                payments: Int($0.committedPaymentsCount ?? 0),
                isRenewed: $0.renewalType == "RENEWAL_TYPE_RENEWS_WITH_COMMITMENT")
        }
    }

    /// A number of days such as `P7D`, or of weeks or months; nil for another text.
    static func days(_ text: String?) -> Int64? {
        guard let text else { return nil }
        return text == "P0D" ? 0 : SubscriptionPeriod(text)?.days
    }
}

extension SubscriptionPeriod {
    /// The days of the period, with months of 30 days.
    var days: Int64 {
        let days: Int64 =
            switch unit {
            case .day: 1
            case .week: 7
            case .month: 30
            case .year: 365
            }
        return days * Int64(value)
    }
}

extension CatalogOffer {
    /// The periods of the offer in a region, each with its price; nil if a phase has none there.
    ///
    /// - Parameter price: The price of the base plan.
    package func periods(in regionCode: String, of price: Money) -> [RecurringPurchase.Phase]? {
        var periods: [RecurringPurchase.Phase] = []
        for phase in phases ?? [] {
            guard let config = phase.regionalConfigs?.first(where: { $0.regionCode == regionCode }),
                let length = phase.duration.flatMap({ SubscriptionPeriod($0) }), let reduced = config.price(from: price)
            else { return nil }
            let kind: RecurringPurchase.PhaseKind = (reduced.billionths ?? 0) == 0 ? .freeTrial : .introductory
            let count = max(1, Int(phase.recurrenceCount ?? 1))
            periods += Array(repeating: .init(kind: kind, length: length, price: reduced), count: count)
        }
        return periods
    }
}

extension CatalogOffer.Phase.RegionalConfig {
    /// The price of a phase; nil if the configuration has no override.
    fileprivate func price(from price: Money) -> Money? {
        let full = price.billionths ?? 0
        func money(_ billionths: Int64) -> Money {
            Money(currencyCode: price.currencyCode, billionths: max(0, billionths))
        }
        if free != nil { return money(0) }
        if let fixed = self.price { return fixed }
        if let absoluteDiscount { return money(full - (absoluteDiscount.billionths ?? 0)) }
        // The price is a multiple of a thousandth of a unit.
        return relativeDiscount.map { money(Int64((Double(full / 1_000_000) * (1 - $0)).rounded()) * 1_000_000) }
    }
}
