import AppStore
import Proofs
import Testing

/// The events of a subscription to `basic.monthly`, bought on day 0.
@Suite struct SubscriptionRuleTests {
    enum Event: Sendable {
        case buy(String, day: Int64)
        case setAutoRenew(Bool)
        /// The due date comes.
        case due
        case dueWithoutMoney(isGracePeriodEnabled: Bool)
        case recover(day: Int64)
        case forceRenewal(day: Int64)
        case expireNow(day: Int64)
        case requestPriceIncrease(Int64)
        case consentToPriceIncrease
        case declinePriceIncrease
        case revoke
        case reinstate(day: Int64)
    }

    private let fixture: RuleFixture

    init() throws {
        fixture = try RuleFixture()
    }

    @Test(
        arguments: [
            // A higher product takes effect at once, a lower one or another period at the renewal.
            (
                [.buy("premium.monthly", day: 5)],
                ["upgraded", "charge premium.monthly 9990", "DID_CHANGE_RENEWAL_PREF UPGRADE"], .active
            ),
            (
                [.buy("basic.yearly", day: 5), .due],
                ["DID_CHANGE_RENEWAL_PREF DOWNGRADE", "charge basic.yearly 49990", "DID_RENEW"], .active
            ),
            (
                [.buy("basic.yearly", day: 5), .buy("basic.monthly", day: 6)],
                ["DID_CHANGE_RENEWAL_PREF DOWNGRADE", "DID_CHANGE_RENEWAL_PREF"], .active
            ),
            ([.buy("basic.monthly", day: 5)], [], .active),
            // Cancelled.
            (
                [.setAutoRenew(false), .setAutoRenew(false), .due],
                ["DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED", "EXPIRED VOLUNTARY"], .expired
            ),
            (
                [.setAutoRenew(false), .buy("basic.monthly", day: 5), .due],
                [
                    "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED", "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_ENABLED",
                    "charge basic.monthly 4990", "DID_RENEW",
                ], .active
            ),
            (
                [.expireNow(day: 10), .buy("premium.monthly", day: 20)],
                ["ends on day 10", "EXPIRED VOLUNTARY", "charge premium.monthly 9990", "SUBSCRIBED RESUBSCRIBE"],
                .active
            ),
            // Not charged.
            ([.dueWithoutMoney(isGracePeriodEnabled: false)], ["DID_FAIL_TO_RENEW"], .billingRetry),
            ([.dueWithoutMoney(isGracePeriodEnabled: true)], ["DID_FAIL_TO_RENEW GRACE_PERIOD"], .billingGracePeriod),
            (
                [.dueWithoutMoney(isGracePeriodEnabled: true), .due, .due],
                ["DID_FAIL_TO_RENEW GRACE_PERIOD", "GRACE_PERIOD_EXPIRED", "EXPIRED BILLING_RETRY"], .expired
            ),
            (
                [.dueWithoutMoney(isGracePeriodEnabled: false), .recover(day: 40)],
                ["DID_FAIL_TO_RENEW", "charge basic.monthly 4990", "DID_RENEW BILLING_RECOVERY"], .active
            ),
            // A higher price.
            (
                [.requestPriceIncrease(5990), .consentToPriceIncrease, .due],
                ["PRICE_INCREASE PENDING", "PRICE_INCREASE ACCEPTED", "charge basic.monthly 5990", "DID_RENEW"],
                .active
            ),
            (
                [.requestPriceIncrease(5990), .due], ["PRICE_INCREASE PENDING", "EXPIRED PRICE_INCREASE"], .expired
            ),
            (
                [.requestPriceIncrease(5990), .declinePriceIncrease, .due],
                [
                    "PRICE_INCREASE PENDING", "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED",
                    "EXPIRED PRICE_INCREASE",
                ], .expired
            ),
            // Refunded.
            ([.revoke], [], .revoked),
            ([.revoke, .reinstate(day: 29)], [], .active),
            ([.revoke, .reinstate(day: 30)], [], .expired),
        ] as [([Event], [String], Status)])
    func `an event leads to charges and notifications`(events: [Event], effects: [String], status: Status) throws {
        var subscription = try fixture.subscription()
        var met: [String] = []
        for event in events { met += try apply(event, to: &subscription).map(Self.words) }
        #expect(met == effects)
        #expect(subscription.status == status)
    }

    @Test(
        arguments: [
            ([], .recover(day: 5)), ([], .consentToPriceIncrease), ([], .declinePriceIncrease),
            ([], .requestPriceIncrease(4990)), ([.requestPriceIncrease(5990)], .forceRenewal(day: 5)),
            ([.expireNow(day: 5)], .forceRenewal(day: 6)), ([.expireNow(day: 5)], .setAutoRenew(true)),
            ([.expireNow(day: 5)], .expireNow(day: 6)), ([.revoke], .expireNow(day: 6)),
        ] as [([Event], Event)])
    func `an event that is refused changes nothing`(before: [Event], refused: Event) throws {
        var subscription = try fixture.subscription()
        for event in before { _ = try apply(event, to: &subscription) }
        let unchanged = subscription
        let result = Result<[SubscriptionEffect], any Error> { try apply(refused, to: &subscription) }
        #expect(throws: StoreError.self) { try result.get() }
        #expect(subscription == unchanged)
    }

    @Test(
        arguments: [
            (nil, [4990, 4990, 4990], 30),
            // A free week, two months at a lower price, and half a year that is paid at once.
            (.introductory, [0, 4990, 4990], 7), (.promotional, [1990, 1990, 4990], 30),
            (.winBack, [9990, 4990, 4990], 181),
        ] as [(SubscriptionOffer.Kind?, [Int64], Int64)])
    func `an offer is charged for as many periods as it has`(
        kind: SubscriptionOffer.Kind?,
        prices: [Int64],
        firstEnd: Int64
    ) throws {
        let product = try fixture.product("basic.monthly")
        let terms = try #require(product.subscription)
        var (subscription, effects) = CustomerSubscription.first(
            product, terms, offer: terms.offers.first { $0.kind == kind }, originalTransactionIdentifier: "1",
            account: "alice", fixture.terms())
        #expect(subscription.expiresDate == RuleFixture.day(firstEnd))
        for _ in 1..<prices.count { effects += subscription.becomeDue(fixture.terms()) }
        let charged = effects.compactMap { effect -> Int64? in
            guard case .charge(let charge) = effect else { return nil }
            return charge.price.milliunits
        }
        #expect(charged == prices)
        #expect(Self.words(effects[1]) == "SUBSCRIBED INITIAL_BUY")
    }

    private func apply(_ event: Event, to subscription: inout CustomerSubscription) throws -> [SubscriptionEffect] {
        let terms = fixture.terms()
        switch event {
        case .buy(let name, let day):
            let product = try fixture.product(name)
            return subscription.buy(
                product, try #require(product.subscription), offer: nil, fixture.terms(day: day))
        case .setAutoRenew(let isOn): return try subscription.setAutoRenew(isOn)
        case .due: return subscription.becomeDue(terms)
        case .dueWithoutMoney(let isGracePeriodEnabled):
            return subscription.becomeDue(
                fixture.terms(isBillingFailing: true, isGracePeriodEnabled: isGracePeriodEnabled))
        case .recover(let day): return try subscription.recover(fixture.terms(day: day))
        case .forceRenewal(let day): return try subscription.forceRenewal(fixture.terms(day: day))
        case .expireNow(let day): return try subscription.expireNow(at: RuleFixture.day(day))
        case .requestPriceIncrease(let milliunits):
            return try subscription.requestPriceIncrease(
                to: Price(milliunits: milliunits, currency: "USD"), needsConsent: true, terms)
        case .consentToPriceIncrease: return try subscription.consentToPriceIncrease()
        case .declinePriceIncrease: return try subscription.declinePriceIncrease()
        case .revoke: subscription.revoke()
        case .reinstate(let day): subscription.reinstate(at: RuleFixture.day(day))
        }
        return []
    }

    private static func words(_ effect: SubscriptionEffect) -> String {
        switch effect {
        case .charge(let charge): "charge \(charge.productIdentifier.dropFirst(7)) \(charge.price.milliunits)"
        case .addSeats(let charge): "add \(charge.quantity) seats at \(charge.price.milliunits)"
        case .markUpgraded: "upgraded"
        case .setExpiresDate(let date):
            "ends on day \((date.secondsSince1970 - RuleFixture.now.secondsSince1970) / 86_400)"
        case .refundRest(let items): "refund the rest of \(items?.joined(separator: ", ") ?? "all")"
        case .notify(let type, let subtype): type.rawValue + (subtype.map { " \($0.rawValue)" } ?? "")
        }
    }
}
