import Entitlements
import Ledger
import Proofs
import Testing

/// The messages in RevenueCat's format about purchases of Google Play, whose original is a purchase token.
@Suite struct GooglePlayEventTests {
    private typealias Fixture = RevenueCatFixture

    private static let token = "aaaabbbbccccddddeeeeffff.AO-J1Oz_-"
    private static let order = "GPA.3345-1111-2222-33333"
    private static let other = "GPA.3345-1111-2222-44444"

    /// The members of an event.
    private func event(_ fixture: RevenueCatFixture) throws -> JSONObject {
        let text = try #require(fixture.event).text
        guard case .object(let message) = try JSONParser.parse(Array(text.utf8)),
            case .object(let event)? = message["event"]
        else {
            Issue.record("\(text) has no event")
            return [:]
        }
        return event
    }

    /// A subscription with a period for each order, a week each.
    private func subscription(
        _ event: AuditEntry.Event,
        _ reference: String,
        orders: [String],
        origin: Origin = .googleProduction,
        _ stated: [TransactionFact: StatedValue] = [:]
    ) -> RevenueCatFixture {
        var fixture = Fixture(event, reference, origin: origin)
        for (index, order) in orders.enumerated() {
            let start = 1 + 7 * Int64(index)
            fixture = fixture.having(
                order, of: Self.token, from: start, to: start + 7,
                stated.merging([.orderId: .text(order)]) { first, _ in first })
        }
        return fixture
    }

    @Test func `the first period is an initial purchase, and the next one its renewal`() throws {
        let renewal = Self.order + "..0"
        let first = try event(subscription(.granted, Self.order, orders: [Self.order]))
        #expect(first["type"] == "INITIAL_PURCHASE")
        #expect(first["store"] == "PLAY_STORE" && first["environment"] == "PRODUCTION")
        #expect(first["transaction_id"] == .string(Self.order))
        #expect(first["original_transaction_id"] == .string(Self.order))
        let second = try event(subscription(.granted, renewal, orders: [Self.order, renewal]))
        #expect(second["type"] == "RENEWAL")
        #expect(second["transaction_id"] == .string(renewal))
        #expect(second["original_transaction_id"] == .string(Self.order))
    }

    @Test func `a period is a renewal if the Play says so, even if the ledger has no earlier one`() throws {
        let renewal = Self.order + "..2"
        let reason: [TransactionFact: StatedValue] = [.transactionReason: .text(TransactionReason.renewal.rawValue)]
        let known = try event(subscription(.granted, renewal, orders: [renewal], reason))
        #expect(known["type"] == "RENEWAL")
        #expect(known["original_transaction_id"] == .string(Self.order))
        let started: [TransactionFact: StatedValue] = [.transactionReason: .text(TransactionReason.purchase.rawValue)]
        #expect(
            try event(subscription(.granted, Self.order, orders: [Self.order], started))["type"] == "INITIAL_PURCHASE")
    }

    /// "For Google Play products set up in RevenueCat after February 2023, this identifier has the format
    /// <subscription_id>:<base_plan_id>" ("Event Types and Fields", `product_id`).
    @Test func `a subscription has the base plan in its product, and another purchase has none`() throws {
        let plan: [TransactionFact: StatedValue] = [.basePlanId: .text("p1m")]
        let bought = try event(subscription(.granted, Self.order, orders: [Self.order], plan))
        #expect(bought["product_id"] == "garden.premium.monthly:p1m")
        let change = Fixture(.productChanged, Self.order, origin: .googleProduction, reason: "garden.gold:p1y")
            .having(Self.order, of: Self.token, from: 1, to: 5, plan)
            .having(Self.other, "garden.gold", of: Self.token, from: 5, to: 35, [.basePlanId: .text("p1y")])
        #expect(try event(change)["product_id"] == "garden.premium.monthly:p1m")
        #expect(try event(change)["new_product_id"] == "garden.gold:p1y")
        // A product of the time before base plans has the plan in its own identifier.
        let early: [TransactionFact: StatedValue] = [.basePlanId: .text("monthly")]
        let named = try event(subscription(.granted, Self.order, orders: [Self.order], early))
        #expect(named["product_id"] == "garden.premium.monthly")
        let apple = Fixture(.granted, "1").having("1", from: 1, to: 8)
        #expect(try event(apple)["product_id"] == "garden.premium.monthly")
        let gate = Fixture(.granted, Self.order, "garden.gate", origin: .googleProduction)
            .having(Self.order, "garden.gate", of: Self.order, type: .nonConsumable, from: 1, to: nil)
        #expect(try event(gate)["product_id"] == "garden.gate")
    }

    @Test func `a prepaid plan has a type of its own`() throws {
        let prepaid = try event(subscription(.granted, Self.order, orders: [Self.order], [.isPrepaid: .integer(1)]))
        #expect(prepaid["period_type"] == "PREPAID")
    }

    /// "Common Webhook Flows": an immediate change and a resubscription are an INITIAL_PURCHASE at Google Play; a change at the end of the
    /// period is a RENEWAL.
    @Test(
        arguments: [
            ("PURCHASE", nil, "INITIAL_PURCHASE"), ("PURCHASE", "CHARGE_FULL_PRICE", "INITIAL_PURCHASE"),
            ("PURCHASE", "DEFERRED", "RENEWAL"), ("RENEWAL", nil, "RENEWAL"),
        ] as [(String, String?, String)])
    func `a change of the product begins a subscription, unless it was deferred`(
        reason: String, mode: String?, type: String
    ) throws {
        var facts: [TransactionFact: StatedValue] = [
            .orderId: .text(Self.other), .transactionReason: .text(reason),
        ]
        facts[.replacementMode] = mode.map { .text($0) }
        let changed = try event(
            Fixture(.granted, Self.other, "garden.gold", origin: .googleProduction)
                .having(Self.order, of: Self.token, from: 1, to: 5, [.orderId: .text(Self.order)])
                .having(Self.other, "garden.gold", of: Self.token, from: 5, to: 35, facts))
        #expect(changed["type"] == .string(type))
        let isRenewal = type == "RENEWAL"
        #expect(changed["original_transaction_id"] == .string(isRenewal ? Self.order : Self.other))
        #expect(changed["renewal_number"] == .integer(isRenewal ? 2 : 1))
    }

    @Test(arguments: [("", 1), ("..0", 2), ("..11", 13), ("..99999999999999999999", 1)] as [(String, Int)])
    func `the order counts the renewals`(suffix: String, number: Int) throws {
        let order = Self.order + suffix
        let facts: [TransactionFact: StatedValue] = [
            .transactionReason: .text(suffix.isEmpty ? "PURCHASE" : "RENEWAL")
        ]
        #expect(
            try event(subscription(.granted, order, orders: [order], facts))["renewal_number"] == .integer(number))
    }

    /// "For Play Store this corresponds to the promotionCode" ("Event Types and Fields", `offer_code`).
    @Test func `an offer code is Google's promotion code`() throws {
        let stated: [TransactionFact: StatedValue] = [
            .offerType: .integer(Int64(SubscriptionOffer.Kind.offerCode.rawValue)), .offerIdentifier: .text("trial"),
        ]
        #expect(try event(subscription(.granted, Self.order, orders: [Self.order], stated))["offer_code"] == .null)
        let coded = stated.merging([.promotionCode: .text("SPRING")]) { first, _ in first }
        #expect(try event(subscription(.granted, Self.order, orders: [Self.order], coded))["offer_code"] == "SPRING")
    }

    @Test(arguments: [
        (Origin.googleProduction, "PRODUCTION"), (.googleTest, "SANDBOX"), (.localPlayProduction, "PRODUCTION"),
        (.localPlayTest, "SANDBOX"),
    ])
    func `the origin names the store and the environment`(origin: Origin, environment: String) throws {
        let granted = try event(subscription(.granted, Self.order, orders: [Self.order], origin: origin))
        #expect(granted["store"] == "PLAY_STORE" && granted["environment"] == .string(environment))
        let moved = try event(
            subscription(.transferredOut, Self.token, orders: [Self.order], origin: origin).with { $0.owner = ["bob"] })
        #expect(moved["type"] == "TRANSFER")
        #expect(moved["store"] == "PLAY_STORE" && moved["environment"] == .string(environment))
    }

    @Test func `a purchase with a promotional code has its token, because it has no order`() throws {
        let gate = try event(
            Fixture(.granted, Self.token, "garden.gate", origin: .googleProduction)
                .having(Self.token, "garden.gate", of: Self.token, type: .nonConsumable, from: 1, to: nil))
        #expect(gate["type"] == "NON_RENEWING_PURCHASE")
        #expect(gate["transaction_id"] == .string(Self.token))
        #expect(gate["original_transaction_id"] == .string(Self.token))
    }

    @Test func `each product of a purchase has its price, though its identifier is not that of the purchase`() throws {
        let product = "\(Self.token):garden.gate"
        let gate = try event(
            Fixture(.granted, product, "garden.gate", origin: .googleProduction)
                .having(
                    product, "garden.gate", of: Self.token, type: .nonConsumable, from: 1, to: nil,
                    [.orderId: .text(Self.order)]))
        #expect(gate["price_in_purchased_currency"] == .number(JSONNumber(thousandths: 4990)))
        #expect(gate["transaction_id"] == .string(Self.order))
    }
}
