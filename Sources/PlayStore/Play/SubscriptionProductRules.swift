import Proofs

/// The rules of a subscription in a catalog.
extension CatalogSubscription {
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
        guard self.packageName.map({ $0 == packageName }) ?? true else {
            throw .invalidValue("subscription.packageName", "it has to be that of the path.")
        }
        guard let listings, !listings.isEmpty, listings.allSatisfy({ $0.languageCode != nil && $0.title != nil }) else {
            throw .required("subscription.listings")
        }
        let identifiers = (basePlans ?? []).map { $0.basePlanId ?? "" }
        guard Set(identifiers).count == identifiers.count else {
            throw .invalidValue("subscription.basePlans", "each needs another basePlanId.")
        }
        for plan in basePlans ?? [] { try plan.check() }
        var product = self
        product.packageName = packageName
        return product
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
        guard let basePlanId, basePlanId.utf8.count <= 63, basePlanId.wholeMatch(of: /[a-z0-9][a-z0-9-]*/) != nil else {
            throw .invalidValue("\(field).basePlanId", "it has 1 to 63 digits, small letters and hyphens.")
        }
        let kinds = [autoRenewingBasePlanType != nil, prepaidBasePlanType != nil, installmentsBasePlanType != nil]
        guard kinds.count(where: \.self) == 1 else { throw .invalidValue(field, "each needs one type of plan.") }
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
        for config in regionalConfigs ?? [] {
            guard config.regionCode?.wholeMatch(of: /[A-Z]{2}/) != nil, (config.price?.billionths ?? 0) > 0 else {
                throw .invalidValue("\(field).regionalConfigs", "each needs a regionCode such as US, and a price.")
            }
        }
    }
}

extension CatalogOffer {
    /// The offer of a file after the checks of its fields.
    ///
    /// - Throws: `PublisherError`, `required` or `invalidValue`.
    package func checked() throws(PublisherError) -> CatalogOffer {
        guard let offerId, packageName != nil, productId != nil, basePlanId != nil, !offerId.isEmpty else {
            throw .required("subscriptionOffer.offerId")
        }
        guard let phases, (1...2).contains(phases.count) else {
            throw .invalidValue("subscriptionOffer.phases", "1 or 2.")
        }
        for phase in phases where phase.duration.flatMap({ SubscriptionPeriod($0) }) == nil {
            throw .invalidValue("subscriptionOffer.phases.duration", "a period of ISO 8601, such as P1M.")
        }
        return self
    }
}
