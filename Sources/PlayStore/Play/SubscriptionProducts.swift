import Foundation
import GRDB
import Proofs

/// The subscriptions of a catalog, their base plans and offers.
extension PlayBooks {
    package func subscriptionProduct(_ productId: String, of packageName: String) throws -> CatalogSubscription? {
        try SQLRequest<String>(
            """
            SELECT record FROM subscription_product
            WHERE package_name = \(packageName) AND product_id = \(productId)
            """
        ).fetchOne(database).map { try PlayRecord.value($0) }
    }

    /// The subscriptions of an app in the order of their identifiers, after one of them.
    package func subscriptionProducts(of packageName: String, after productId: String = "", limit: Int = 1000) throws
        -> [CatalogSubscription]
    {
        try SQLRequest<String>(
            """
            SELECT record FROM subscription_product
            WHERE package_name = \(packageName) AND product_id > \(productId)
            ORDER BY product_id LIMIT \(limit)
            """
        ).fetchAll(database).map { try PlayRecord.value($0) }
    }

    func subscriptionOffer(_ offerId: String, of basePlanId: String, productId: String, in packageName: String) throws
        -> CatalogOffer?
    {
        try subscriptionOffers(of: basePlanId, productId: productId, in: packageName)
            .first { $0.offerId == offerId }
    }

    /// The offers of a base plan; `-` stands for all plans, or for all products.
    package func subscriptionOffers(of basePlanId: String, productId: String, in packageName: String) throws
        -> [CatalogOffer]
    {
        try SQLRequest<String>(
            """
            SELECT record FROM subscription_offer
            WHERE package_name = \(packageName) AND \(productId) IN (product_id, '-')
                AND \(basePlanId) IN (base_plan_id, '-')
            ORDER BY product_id, base_plan_id, offer_id
            """
        ).fetchAll(database).map { try PlayRecord.value($0) }
    }

    /// Adds or replaces a subscription.
    func keep(_ product: CatalogSubscription) throws {
        try database.execute(
            literal: """
                INSERT INTO subscription_product (package_name, product_id, record)
                VALUES (\(product.packageName), \(product.productId), \(try PlayRecord.text(product)))
                ON CONFLICT (package_name, product_id) DO UPDATE SET record = excluded.record
                """)
    }

    /// Adds or replaces an offer.
    func keep(_ offer: CatalogOffer) throws {
        try database.execute(
            literal: """
                INSERT INTO subscription_offer (package_name, product_id, base_plan_id, offer_id, record)
                VALUES (\(offer.packageName), \(offer.productId), \(offer.basePlanId), \(offer.offerId),
                    \(try PlayRecord.text(offer)))
                ON CONFLICT (package_name, product_id, base_plan_id, offer_id) DO UPDATE SET record = excluded.record
                """)
    }
}

extension CatalogSubscription.BasePlan {
    /// The days of grace and hold together, if a plan names no hold.
    private static let standardDays: Int64 = 60

    package var period: SubscriptionPeriod? {
        (autoRenewingBasePlanType?.billingPeriodDuration ?? prepaidBasePlanType?.billingPeriodDuration
            ?? installmentsBasePlanType?.billingPeriodDuration)
            .flatMap { SubscriptionPeriod($0) }
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
        if text == "P0D" { return 0 }
        guard let period = SubscriptionPeriod(text) else { return nil }
        let days: Int64 =
            switch period.unit {
            case .day: 1
            case .week: 7
            case .month: 30
            case .year: 365
            }
        return days * Int64(period.value)
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
