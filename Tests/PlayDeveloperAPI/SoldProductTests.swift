import Entitlements
import PlayStore
import Proofs
import Service
import TestSupport
import Testing

/// One-time products that the local Play sells together, or for a promotion code, as the service knows them from its API alone.
@Suite struct SoldProductTests {
    private let garden: PlayGarden

    init() async throws { garden = try await PlayGarden() }

    private func sell(_ fill: (inout PlayPurchaseOrder) -> Void) throws -> OneTimePurchase {
        var order = PlayPurchaseOrder(packageName: PlayServer.packageName, productId: "garden.gate", account: "ada")
        fill(&order)
        return try garden.server.play.perform { [order] in try $0.buy(order) }
    }

    private func transactions() async throws -> [RedeemedTransaction] {
        try await garden.entitlements.transactions(of: garden.alice, before: nil, limit: 9)
    }

    @Test func `each product of an order is granted with its own price, and all are taken back together`() async throws
    {
        let sold = try sell { $0.products = [PlayProductOrder(productId: "garden.seeds")] }
        #expect(try await garden.present(sold.token) == nil)
        #expect(try await garden.items() == ["gate 1"])
        #expect(try await garden.entitlements.balances(of: garden.alice).map(\.amount).contains { $0 > 0 })
        let bought = try await transactions()
        #expect(Set(bought.map(\.productIdentifier)) == ["garden.gate", "garden.seeds"])
        let prices = Dictionary(uniqueKeysWithValues: sold.items.map { ($0.productId, $0.price.price.milliunits) })
        for transaction in bought {
            #expect(transaction.facts.integer(.price) == prices[transaction.productIdentifier])
            #expect(transaction.facts.text(.orderId) == sold.orderId)
        }
        // The seeds are consumable, so that the purchase is consumed as a whole, under its first product.
        try await garden.app.client.consume(sold.token, of: "garden.gate")
        _ = try garden.server.play.perform { try $0.refund(sold.number) }
        garden.advance(milliseconds: 1)
        #expect(Set(try await garden.app.refresh(sold.token)) == [.revoked])
        #expect(try await garden.items().isEmpty)
        #expect(try await garden.entitlements.balances(of: garden.alice).allSatisfy { $0.amount == 0 })
    }

    @Test func `a product for a promotion code is granted, and costs nothing`() async throws {
        let sold = try sell { $0.usesOneTimeCode = true }
        #expect(try await garden.present(sold.token) == nil)
        #expect(try await garden.items() == ["gate 1"])
        let given = try #require(try await transactions().first)
        #expect(given.facts.integer(.price) == 0 && given.facts[.orderId] == nil)
        #expect(given.facts.integer(.offerType) == Int64(SubscriptionOffer.Kind.offerCode.rawValue))
    }

    @Test(arguments: [nil, "SPRING"])
    func `a subscription for a promotion code tells the code, or that it was for one customer`(code: String?)
        async throws
    {
        var order = PlayPurchaseOrder(
            packageName: PlayServer.packageName, productId: "garden.basic.monthly", account: "ada")
        (order.promotionCode, order.usesOneTimeCode) = (code, code == nil)
        let sold = try garden.server.play.perform { [order] in try $0.subscribe(order) }
        #expect(try await garden.present(sold.token) == nil)
        let facts = try #require(try await transactions().first).facts
        #expect(facts.text(.promotionCode) == code)
        #expect(facts.bool(.hasOneTimeCode) == (code == nil ? true : nil))
    }
}
