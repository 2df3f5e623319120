import PlayStore
import Proofs
import Testing

/// The consent to a step-up of the price in South Korea, by the examples of developer.android.com/google/play/billing/price-changes.
@Suite struct PriceStepUpTests {
    /// 2026-03-03.
    private static let start = Timestamp(secondsSince1970: 1_772_496_000)

    private static func won(_ units: Int64) -> Money { Money(currencyCode: "KRW", billionths: units * 1_000_000_000) }

    /// A monthly plan of 10,000 won with phases before it.
    private func purchase(
        _ phases: [(RecurringPurchase.PhaseKind, String, won: Int64)], in region: String = "KR", consents: Bool = false
    ) throws -> RecurringPurchase {
        var terms = RecurringPurchase.Terms(
            packageName: "com.example.garden", productId: "premium", basePlanId: "monthly", title: "Premium",
            regionCode: region, price: Self.won(10_000), period: .oneMonth)
        terms.phases = try phases.map { kind, length, price in
            .init(kind: kind, length: try #require(SubscriptionPeriod(length)), price: Self.won(price))
        }
        var purchase = RecurringPurchase(
            number: 1, token: "token", account: "ada", terms: terms, orderId: "GPA.1", consentsToStepUp: consents,
            at: Self.start)
        try purchase.acknowledge(SubscriptionRequests.Acknowledge())
        return purchase
    }

    /// Performs the next due event, and returns its day, the types of notifications, the state, and that of the consent.
    private func advance(_ purchase: inout RecurringPurchase) -> String {
        let day = purchase.nextMoment.map { String($0.rfc3339.prefix(10).dropFirst(5)) } ?? ""
        let types = purchase.advance().compactMap { effect in
            if case .notification(let type) = effect { String(type.rawValue) } else { nil }
        }
        return "\(day) \(types.joined(separator: ",")) \(purchase.state) \(consent(purchase)?.state ?? "")"
    }

    private func consent(_ purchase: RecurringPurchase) -> SubscriptionPurchaseV2.PriceStepUpConsentDetails? {
        purchase.subscriptionPurchase(at: Self.start).lineItems?.first?.autoRenewingPlan?.priceStepUpConsentDetails
    }

    @Test func `a consent at the purchase lets the price follow the trial`() throws {
        var purchase = try purchase([(.freeTrial, "P10D", 0)], consents: true)
        #expect(advance(&purchase) == "03-03 22 active CONFIRMED")
        #expect(advance(&purchase) == "03-13 2 active COMPLETED")
        #expect(advance(&purchase) == "04-13 2 active COMPLETED")
    }

    @Test func `without a consent the subscription ends with the trial`() throws {
        var purchase = try purchase([(.freeTrial, "P10D", 0)])
        #expect(advance(&purchase) == "03-03 22 active PENDING")
        let details = try #require(consent(purchase))
        #expect(details.newPrice == Self.won(10_000))
        #expect(details.consentDeadlineTime?.moment == Self.start.adding(days: 10))
        #expect(throws: PlayError.self) { try purchase.planPause() }
        #expect(advance(&purchase) == "03-13 3,13 expired PENDING")
        #expect(purchase.cancellation == .system)
        #expect(throws: PlayError.self) { try purchase.acceptStepUp() }
    }

    @Test func `the period of consent has thirty days at most`() throws {
        var purchase = try purchase([(.freeTrial, "P40D", 0)])
        #expect(advance(&purchase) == "03-13 22 active PENDING")
        #expect(try purchase.acceptStepUp() == [.notification(.priceStepUpConsentUpdated)])
        #expect(advance(&purchase) == "04-12 2 active COMPLETED")
    }

    @Test func `a trial and an introductory price need a consent each`() throws {
        var purchase = try purchase([(.freeTrial, "P10D", 0), (.introductory, "P30D", 5000)])
        #expect(advance(&purchase) == "03-03 22 active PENDING")
        _ = try purchase.acceptStepUp()
        #expect(advance(&purchase) == "03-13 2 active COMPLETED")
        #expect(advance(&purchase) == "03-13 22 active PENDING")
        _ = try purchase.acceptStepUp()
        #expect(advance(&purchase) == "04-12 2 active COMPLETED")
        #expect(advance(&purchase) == "05-12 2 active COMPLETED")
    }

    @Test func `periods of one introductory price have one consent, before the last of them ends`() throws {
        var purchase = try purchase([(.introductory, "P1M", 5000), (.introductory, "P1M", 5000)])
        // Both are due thirty days before the end of the last period.
        #expect(advance(&purchase) == "04-03 22 active PENDING")
        #expect(advance(&purchase) == "04-03 2 active PENDING")
        #expect(advance(&purchase) == "05-03 3,13 expired PENDING")
    }

    @Test func `a canceled subscription, another region and a price that falls need none`() throws {
        var canceled = try purchase([(.freeTrial, "P40D", 0)])
        _ = try canceled.cancel(.user(Self.start), at: Self.start)
        #expect(advance(&canceled) == "04-12 13 expired ")
        var abroad = try purchase([(.freeTrial, "P10D", 0)], in: "US")
        #expect(advance(&abroad) == "03-13 2 active ")
        var falling = try purchase([(.introductory, "P1M", 12_000)])
        #expect(advance(&falling) == "04-03 2 active ")
    }
}
