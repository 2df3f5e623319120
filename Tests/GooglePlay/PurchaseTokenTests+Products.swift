import Entitlements
import Proofs
import Testing

/// Purchases of several products or units.
extension PurchaseTokenTests {
    @Test(arguments: [["garden.gate", "garden.seeds"], ["garden.unknown", "garden.seeds"]])
    func `several products are consumed under the first one, if one of them is a consumable`(products: [String])
        async throws
    {
        let items = products.map { #"{"productId":"\#($0)"}"# }
        _ = try await redeem(try product("m", items: items), for: alice)
        let purchase = try #require(try await purchases.purchasesToAcknowledge(limit: 9).due.first)
        #expect(purchase.purchase?.productIdentifier == products.first)
        #expect(purchases.isConsumable(purchase))
        advance(seconds: 60)
        // The app has acknowledged it, which consumes nothing.
        _ = try await purchases.record(
            try product("m", items: items, isAcknowledged: true), continuing: nil)
        #expect(try await due() == ["m"])
        let consumed = #""productOfferDetails":{"consumptionState":"CONSUMPTION_STATE_CONSUMED"}"#
        let first = #"{"productId":"\#(products[0])",\#(consumed)}"#
        _ = try await purchases.record(
            try product("m", items: [first] + items.dropFirst(), isAcknowledged: true), continuing: nil)
        #expect(try await due().isEmpty)
    }

    @Test func `nothing of a rental is granted or acknowledged`() async throws {
        let rental = #"{"productId":"garden.gate","productOfferDetails":{"rentOfferDetails":{}}}"#
        let statement = try product("r", items: [rental, #"{"productId":"garden.seeds"}"#])
        #expect(try await redeem(statement, for: alice).isEmpty)
        #expect(try await refresh(statement).isEmpty)
        advance(seconds: 86_400)
        #expect(try await due().isEmpty)
        #expect(try await purchases.purchase(of: "r")?.acknowledgement == nil)
    }
}
