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

    private static let rental =
        #"{"productId":"garden.gate","productOfferDetails":{"purchaseOptionId":"rent","rentOfferDetails":{}}}"#

    private static func rentals(_ period: String) throws -> [GooglePlayRental] {
        let option = #"{"purchaseOptionId":"rent","rentOption":{"rentalPeriod":"\#(period)"}}"#
        return try GooglePlayRental.all(Array(#"{"purchaseOptions":[\#(option)]}"#.utf8), of: "garden.gate")
    }

    @Test func `a rented item ends with its rental, also if the catalog sells it for good`() async throws {
        let start = now
        let statement = try product("r", items: [Self.rental], rentals: try Self.rentals("P2D"))
        #expect(try await redeem(statement, for: alice) == [.granted])
        let gates = try await service.items(of: alice).filter { $0.item.collection == "gate" }
        #expect(gates.map(\.until) == [start.adding(days: 2)])
        #expect(try await due() == ["r"])
        // A later answer has nothing of the catalog, and changes nothing.
        advance(seconds: 86_400)
        _ = try await refresh(try product("r", items: [Self.rental]))
        #expect(try await transactions(alice).map(\.expiresAt) == [start.adding(days: 2)])
        advance(seconds: 86_400)
        #expect(try await service.items(of: alice).allSatisfy { $0.item.collection != "gate" })
        // Presented again, it stays over.
        let recorded = try #require(try await purchases.purchase(of: "r"))
        let again = try #require(try await purchases.redeemedPurchases(of: recorded))
        _ = try await service.redeem(again, for: alice)
        #expect(try await service.items(of: alice).allSatisfy { $0.item.collection != "gate" })
        let types = try await transactions(alice).map { $0.facts.text(.type) }
        #expect(types == [ProductType.nonRenewingSubscription.rawValue])
    }

    @Test func `nothing of a rental whose end nobody states is granted or acknowledged`() async throws {
        let statement = try product("r", items: [Self.rental, #"{"productId":"garden.seeds"}"#])
        #expect(try await redeem(statement, for: alice).isEmpty)
        #expect(try await refresh(statement).isEmpty)
        #expect(try await purchases.purchase(of: "r")?.askAt == now.adding(days: 1))
        advance(seconds: 86_400)
        #expect(try await due().isEmpty)
        #expect(try await purchases.purchase(of: "r")?.acknowledgement == nil)
    }
}
