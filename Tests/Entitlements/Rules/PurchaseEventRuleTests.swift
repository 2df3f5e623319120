import Entitlements
import Proofs
import TestSupport
import Testing

/// One period of a subscription under two transaction identifiers.
@Suite struct PurchaseEventRuleTests {
    typealias Rules = RuleFixture

    private static func claim(
        _ transaction: String,
        original: String = "1",
        product: String = "p",
        event: String? = "e",
        bought: Int64 = 0,
        expires: Int64 = 1000,
        revoked: Bool = false,
        signed: Int64 = 0,
        of tokenOwner: Int64? = nil
    ) -> Claim {
        Rules.claim(
            transaction, original: original, product: product, bought: bought, revoked: revoked, signed: signed,
            of: tokenOwner, expires: expires,
            facts: event.map { TransactionFacts([.webOrderLineItemId: .text($0), .price: .integer(4990)]) })
    }

    @Test(arguments: [
        ("the same period", claim("2"), 1), ("signed later", claim("2", signed: 50), 1),
        ("an extended period", claim("2", expires: 2000, signed: 50), 1),
        ("the same end", claim("2", bought: 1), 1),
        ("another event", claim("2", event: "f"), 2), ("no event", claim("2", event: nil), 2),
        ("the next period", claim("2", bought: 1000, expires: 2000), 2),
        ("another purchase", claim("2", original: "2"), 2), ("another product", claim("2", product: "q"), 2),
    ])
    func `a second identifier of the same event, purchase and period is no second transaction`(
        what: String,
        second: Claim,
        count: Int
    ) {
        for isNotified in [false, true] {
            let (results, decision) = Rules.play(
                [
                    .redeem(Self.claim("1"), Rules.alice),
                    isNotified ? .state(second) : .redeem(second, Rules.alice),
                ], after: 60)
            // A statement about a purchase that nobody owns is parked.
            let isParked = isNotified && second.originalTransactionIdentifier == "2"
            let expected = isParked ? 1 : count
            #expect(decision.facts.transactions.count == expected, "\(what)")
            #expect(decision.story.count { $0.contains("granted") } == expected, "\(what)")
            if count == 1 { #expect(results.last == (isNotified ? "recorded" : "alreadyRedeemed"), "\(what)") }
        }
    }

    @Test func `a refund of either identifier takes the period, and the later statement counts`() {
        for refunded in ["1", "2"] {
            let (results, decision) = Rules.play(
                [
                    .redeem(Self.claim("1"), Rules.alice), .redeem(Self.claim("2"), Rules.alice),
                    .state(Self.claim(refunded, revoked: true, signed: 20)),
                    .redeem(Self.claim("2", signed: 10), Rules.alice),
                ], after: 60)
            #expect(results == ["granted", "alreadyRedeemed", "revoked", "revoked"])
            #expect(decision.status(of: "1")?.isRevoked == true && decision.status(of: "2") == nil)
        }
    }

    @Test(arguments: [
        ([claim("2", signed: 30)], true), ([claim("1", signed: 30)], false),
        ([claim("2", revoked: true, signed: 30), claim("1", signed: 40)], true),
        ([claim("2", revoked: true, signed: 30), claim("1", signed: 40), claim("2", signed: 50)], false),
        ([claim("2", revoked: true, signed: 10), claim("2", signed: 30), claim("1", signed: 15)], true),
    ])
    func `only a later statement under the refunded identifier takes a refund back`(later: [Claim], isRevoked: Bool) {
        let refund = Self.claim("1", revoked: true, signed: 20)
        for claims in [[refund] + later, later + [refund]] {
            let steps = [.redeem(Self.claim("1"), Rules.alice)] + claims.map { RuleFixture.Step.state($0) }
            let decision = Rules.play(steps, after: 60).decision
            #expect(decision.status(of: "1")?.isRevoked == isRevoked)
            #expect(decision.status(of: "1")?.expiresAt == Rules.later(1000))
        }
    }

    @Test func `another user gets the period under neither identifier`() {
        let (results, decision) = Rules.play(
            [
                .redeem(Self.claim("1"), Rules.alice), .redeem(Self.claim("2"), Rules.bob),
                .redeem(Self.claim("1"), Rules.bob),
            ], after: 60)
        #expect(results == ["granted", "ownedByAnotherUser", "ownedByAnotherUser"])
        #expect(decision.owner(of: "1") == Rules.alice)
    }

    /// Statements about a period under two identifiers, and the user who presents each; nil for the App Store.
    private static func steps(_ dice: Dice) -> [RuleFixture.Step] {
        let isNamed = dice.number(below: 2) == 0
        return (0..<2 + dice.number(below: 5)).map { index in
            let claim = claim(
                "\(1 + dice.number(below: 2))", revoked: dice.number(below: 3) == 0, signed: Int64(index),
                of: isNamed ? Rules.alice : nil)
            return dice.number(below: 2) == 0 ? .redeem(claim, Rules.alice) : .state(claim)
        } + [.redeem(claim("1", signed: -1), Rules.alice), .redeem(claim("2", signed: -1), Rules.alice)]
    }

    @Test(arguments: 0..<200)
    func `statements about both identifiers lead to one transaction that either revokes, in any order`(seed: UInt64) {
        let dice = Dice(seed: seed)
        let steps = Self.steps(dice)
        let statements = steps.map { step in
            switch step {
            case .redeem(let claim, _), .state(let claim): claim
            }
        }
        // Each identifier has its last statement.
        let isRevoked = ["1", "2"].contains { identifier in
            let own = statements.filter { $0.transactionIdentifier == identifier }
            return own.max { $0.signedAt < $1.signedAt }?.revocationDate != nil
        }
        for _ in 0..<4 {
            let decision = Rules.play(dice.shuffle(steps), after: 60).decision
            let transactions = decision.facts.transactions.values
            #expect(transactions.count == 1, "seed \(seed)")
            #expect(transactions.first?.status.isRevoked == isRevoked, "seed \(seed)")
            #expect(decision.facts.parked.isEmpty, "seed \(seed)")
            #expect(decision.changes.newTransactions.count == 1, "seed \(seed)")
        }
    }
}
