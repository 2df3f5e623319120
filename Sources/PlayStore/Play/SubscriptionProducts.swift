import Proofs

extension CatalogSubscription.BasePlan {
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
