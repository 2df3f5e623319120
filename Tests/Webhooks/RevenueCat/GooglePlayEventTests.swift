import Entitlements
import Ledger
import Proofs
import Testing

/// The messages in RevenueCat's format about purchases of Google Play, whose original is a purchase token.
@Suite struct GooglePlayEventTests {
    private typealias Fixture = RevenueCatFixture

    private static let token = "aaaabbbbccccddddeeeeffff.AO-J1Oz_-"
    private static let order = "GPA.3345-1111-2222-33333"

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
