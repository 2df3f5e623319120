import Proofs
import Service
import Testing
import Vocabulary

/// The answers to authentic proofs with refused transactions.
@Suite struct ReceiptOutcomeTests {
    private static let types: [ByteKey: ProductType] = [
        "seeds": .consumable, "gate": .nonConsumable, "monthly": .autoRenewableSubscription,
    ]

    private func answer(
        _ lines: [(String, String, Redemption.Result)],
        product: String? = nil,
        transaction: String? = nil
    ) -> RevenueCatProblem? {
        var outcome = ReceiptOutcome()
        outcome.lines = lines.map { Redemption.Line(transactionId: $0.0, productId: $0.1, result: $0.2) }
        (outcome.productIdentifier, outcome.transactionIdentifier) = (product, transaction)
        outcome.types = Self.types
        return outcome.problem
    }

    @Test(arguments: [Redemption.Result.granted, .alreadyRedeemed, .revoked])
    func `a recorded transaction may be finished`(result: Redemption.Result) {
        #expect(answer([("1", "seeds", result)], product: "seeds") == nil)
        #expect(answer([("1", "seeds", result)], transaction: "1") == nil)
        #expect(answer([("1", "seeds", result)]) == nil)
    }

    @Test(arguments: [
        Redemption.Result.productUnknown, .transferTooSoon, .appAccountTokenMismatch, .transactionConflict,
    ])
    func `a transaction that may be redeemed later is sent again`(result: Redemption.Result) {
        let lines: [(String, String, Redemption.Result)] = [("1", "gate", .granted), ("2", "seeds", result)]
        #expect(answer(lines, product: "seeds")?.status == 503)
        #expect(answer(lines, transaction: "2")?.status == 503)
        #expect(answer(lines)?.status == 503)
        #expect(answer(lines, product: "gate") == nil)
        #expect(answer(lines, product: "gate", transaction: "1") == nil)
    }

    /// The SDK acknowledges a purchase of Google Play with all its products, and never sends it again.
    @Test func `a purchase with several products is finished as a whole`() {
        func answer(_ results: Redemption.Result...) -> RevenueCatProblem? {
            var outcome = ReceiptOutcome()
            outcome.isOnePurchase = true
            outcome.types = Self.types
            outcome.lines = zip(["gate", "monthly"], results).map {
                Redemption.Line(transactionId: "token:\($0)", productId: $0, result: $1)
            }
            return outcome.problem
        }
        #expect(answer(.granted, .alreadyRedeemed) == nil)
        #expect(answer(.revoked) == nil)
        #expect(answer(.granted, .productUnknown)?.status == 503)
        #expect(answer(.ownedByAnotherUser, .transferTooSoon)?.status == 503)
        #expect(answer(.ownedByAnotherUser, .ownedByAnotherUser)?.status == 409)
        #expect(answer(.granted, .ownedByAnotherUser) == nil)
        #expect(answer()?.status == 503)
    }

    @Test func `a restore does not wait for a purchase that comes again`() {
        let lines: [(String, String, Redemption.Result)] = [
            ("1", "gate", .productUnknown), ("2", "monthly", .productUnknown), ("3", "seeds", .granted),
        ]
        #expect(answer(lines) == nil)
        #expect(answer(lines, product: "gate")?.status == 503)
        #expect(answer(lines + [("4", "unknown", .productUnknown)])?.status == 503)
    }

    @Test func `a purchase that another customer keeps is refused for good`() throws {
        let lines: [(String, String, Redemption.Result)] = [
            ("1", "gate", .ownedByAnotherUser), ("2", "seeds", .granted),
        ]
        let refusal = try #require(answer(lines, product: "gate"))
        #expect((refusal.status, refusal.number) == (409, .cannotTransferPurchase))
        #expect(answer(lines, product: "seeds") == nil)
        #expect(answer(lines) == nil)
        #expect(answer(lines + [("3", "gate", .alreadyRedeemed)], product: "gate") == nil)
    }

    @Test func `a consumable that the proof does not contain is sent again`() throws {
        let lines: [(String, String, Redemption.Result)] = [("1", "gate", .alreadyRedeemed)]
        let missing = try #require(answer(lines, product: "seeds"))
        #expect((missing.status, missing.number.rawValue) == (503, 7712))
        #expect(answer(lines, product: "unknown")?.status == 503)
        #expect(answer([], product: "seeds")?.status == 503)
        #expect(answer(lines, product: "monthly") == nil)
        #expect(answer([]) == nil)
    }
}
