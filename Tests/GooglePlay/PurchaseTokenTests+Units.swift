import Entitlements
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Refunds of some units of a purchase.
extension PurchaseTokenTests {
    /// A statement about some units of seeds.
    private func seeds(_ token: String, units: Int, refundable: Int? = nil) throws -> GooglePlayStatement {
        let refundable = refundable.map { #","refundableQuantity":\#($0)"# } ?? ""
        return try product(
            token, items: [#"{"productId":"garden.seeds","productOfferDetails":{"quantity":\#(units)\#(refundable)}}"#])
    }

    /// A record of Google Play's list of voided purchases.
    ///
    /// - Parameter units: Nil for the record that voids the rest.
    private func voided(_ token: String, units: Int?) throws -> VoidedGooglePlayPurchase {
        let quantity = units.map { #","voidedQuantity":\#($0)"# } ?? ""
        let page = """
            {"voidedPurchases":[{"purchaseToken":"\(token)","orderId":"GPA.\(token)",
            "voidedTimeMillis":"\(now.millisecondsSince1970)"\(quantity)}]}
            """
        return try #require(try VoidedGooglePlayPurchases(Array(page.utf8)).purchases.first)
    }

    /// The seeds of a user. A unit of `garden.seeds` has ten.
    private func seeds(of user: User) async throws -> Int {
        try await service.balances(of: user).reduce(0) { $0 + $1.amount }
    }

    @Test func `each refund of some units lowers the balance once`() async throws {
        #expect(try await redeem(try seeds("t", units: 10), for: alice) == [.granted])
        #expect(try await seeds(of: alice) == 100)
        advance(seconds: 60)
        let first = try voided("t", units: 2)
        #expect(try await purchases.apply(first) == [.revoked])
        #expect(try await seeds(of: alice) == 80)
        #expect(try await purchases.apply(first) == [.recorded])
        #expect(try await seeds(of: alice) == 80)
        advance(seconds: 60)
        #expect(try await purchases.apply(try voided("t", units: 3)) == [.revoked])
        #expect(try await seeds(of: alice) == 50)
        // A later answer about the token takes nothing twice, and gives nothing back.
        _ = try await refresh(try seeds("t", units: 10, refundable: 5))
        #expect(try await redeem(try seeds("t", units: 10), for: alice) == [.alreadyRedeemed])
        #expect(try await seeds(of: alice) == 50)
        let events = try await service.ledger.read { try $0.audit(of: alice, after: 0, limit: 9) }.map(\.entry)
        // Without the order, nobody knows the amount.
        #expect(events.map(\.event) == [.granted, .unitsRevoked, .paymentRefunded, .unitsRevoked])
        #expect(events.compactMap(\.reason) == ["2", "3"])
        advance(seconds: 60)
        #expect(try await purchases.apply(try voided("t", units: nil)) == [.revoked])
        #expect(try await seeds(of: alice) == 0)
    }

    @Test func `units that were spent before their refund are owed`() async throws {
        #expect(try await redeem(try seeds("t", units: 3), for: alice) == [.granted])
        let spending = service.newSpending(of: 25, from: "seeds", reason: "A hedge", by: "key")
        #expect(try await service.spend(spending, for: alice).left == 5)
        advance(seconds: 60)
        #expect(try await purchases.apply(try voided("t", units: 2)) == [.revoked])
        #expect(try await seeds(of: alice) == 0)
        #expect(try await redeem(try seeds("u", units: 2), for: alice) == [.granted])
        #expect(try await seeds(of: alice) == 5)
    }

    @Test func `units that were refunded before the redemption are taken once`() async throws {
        let early = try voided("t", units: 4)
        advance(seconds: 60)
        // Google Play states the refund, and the list of voided purchases follows.
        #expect(try await redeem(try seeds("t", units: 10, refundable: 6), for: alice) == [.granted])
        #expect(try await seeds(of: alice) == 60)
        #expect(try await purchases.apply(early) == [.recorded])
        #expect(try await seeds(of: alice) == 60)
        advance(seconds: 60)
        #expect(try await purchases.apply(try voided("t", units: 1)) == [.revoked])
        #expect(try await seeds(of: alice) == 50)
    }

    @Test func `a list that is ahead of the state counts at the redemption`() async throws {
        #expect(try await purchases.apply(try voided("t", units: 4)).isEmpty)
        #expect(try await redeem(try seeds("t", units: 10), for: bob) == [.granted])
        #expect(try await seeds(of: bob) == 60)
        // All units, each by itself.
        advance(seconds: 60)
        #expect(try await purchases.apply(try voided("t", units: 6)) == [.revoked])
        #expect(try await seeds(of: bob) == 0)
        #expect(try await redeem(try seeds("t", units: 10), for: bob) == [.revoked])
        #expect(try await seeds(of: bob) == 0)
    }

    @Test func `an item has no units, and a purchase of several products keeps its balance`() async throws {
        #expect(try await redeem(try product("g", "garden.gate"), for: alice) == [.granted])
        let several = [
            #"{"productId":"garden.gate"}"#, #"{"productId":"garden.seeds","productOfferDetails":{"quantity":2}}"#,
        ]
        #expect(try await redeem(try product("m", items: several), for: bob) == [.granted, .granted])
        advance(seconds: 60)
        #expect(try await purchases.apply(try voided("m", units: 1)).isEmpty)
        #expect(try await seeds(of: bob) == 20)
        #expect(try await service.items(of: alice).contains { $0.item.collection == "gate" })
    }

    @Test func `an item goes with the last unit of its purchase`() async throws {
        func hasGate() async throws -> Bool {
            try await service.items(of: alice).contains { $0.item.collection == "gate" }
        }
        let gates = try product(
            "g", items: [#"{"productId":"garden.gate","productOfferDetails":{"quantity":2}}"#])
        #expect(try await redeem(gates, for: alice) == [.granted])
        advance(seconds: 60)
        #expect(try await purchases.apply(try voided("g", units: 1)).isEmpty)
        #expect(try await hasGate())
        advance(seconds: 60)
        #expect(try await purchases.apply(try voided("g", units: 1)) == [.revoked])
        #expect(try await !hasGate())
    }
}
