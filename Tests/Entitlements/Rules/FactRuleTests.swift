import Entitlements
import Proofs
import Testing

/// The facts of one transaction, or one subscription, from several statements.
@Suite struct FactRuleTests {
    typealias Rules = RuleFixture

    /// The facts of a signed transaction; of an app receipt if it has no date.
    private static func facts(_ signed: Int64?, _ values: [TransactionFact: StatedValue]) -> TransactionFacts {
        var facts = TransactionFacts(values)
        facts[.signedDate] = signed.map { .integer($0) }
        return facts
    }

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let statements: [TransactionFacts]
        let known: TransactionFacts
    }

    static let cases = [
        Case(
            testDescription: "a later statement completes an earlier one",
            statements: [facts(1, [.currency: .text("KRW")]), facts(2, [.price: .integer(5)])],
            known: facts(2, [.currency: .text("KRW"), .price: .integer(5)])),
        Case(
            testDescription: "the statement signed last wins",
            statements: [facts(1, [.price: .integer(4)]), facts(2, [.price: .integer(5)])],
            known: facts(2, [.price: .integer(5)])),
        Case(
            testDescription: "a fact that changes is that of the last signed transaction, also if it is absent",
            statements: [
                facts(1, [.isUpgraded: .integer(1), .revocationType: .text("REFUND_FULL"), .price: .integer(5)]),
                facts(2, [:]),
            ],
            known: facts(2, [.price: .integer(5)])),
        Case(
            testDescription: "an app receipt completes a signed transaction, and changes nothing in it",
            statements: [
                facts(1, [.type: .text("Consumable"), .isUpgraded: .integer(1)]),
                facts(nil, [.type: .text("Other"), .isTrialPeriod: .integer(1)]),
            ],
            known: facts(1, [.type: .text("Consumable"), .isUpgraded: .integer(1), .isTrialPeriod: .integer(1)])),
        Case(
            testDescription: "of two signed in the same millisecond the greater values win",
            statements: [
                facts(1, [.isUpgraded: .integer(1)]), facts(1, [.revocationType: .text("REFUND_FULL")]),
            ],
            known: facts(1, [.isUpgraded: .integer(1), .revocationType: .text("REFUND_FULL")])),
        Case(
            testDescription: "of two objects signed in the same millisecond the one with a refund wins",
            statements: [
                facts(1, [.advancedCommerceInfo: .text(#"{"items":[{"price":9}]}"#)]),
                facts(1, [.advancedCommerceInfo: .text(#"{"items":[{"price":9,"refunds":[{"refundAmount":9}]}]}"#)]),
            ],
            known: facts(
                1, [.advancedCommerceInfo: .text(#"{"items":[{"price":9,"refunds":[{"refundAmount":9}]}]}"#)])),
        Case(
            testDescription: "of two app receipts the later end wins",
            statements: [facts(nil, [.expiresDate: .integer(5)]), facts(nil, [.expiresDate: .integer(7)])],
            known: facts(nil, [.expiresDate: .integer(7)])),
        Case(
            testDescription: "the end is that of the last signed transaction, regardless of an app receipt",
            statements: [facts(1, [.expiresDate: .integer(5)]), facts(nil, [.expiresDate: .integer(7)])],
            known: facts(1, [.expiresDate: .integer(5)])),
    ]

    @Test(arguments: cases) func `statements complete each other in both orders`(example: Case) {
        let (first, second) = (example.statements[0], example.statements[1])
        #expect(first.completed(by: second) == example.known)
        #expect(second.completed(by: first) == example.known)
        #expect(example.known.completed(by: first) == example.known)
        #expect(example.known.completed(by: second) == example.known)
    }

    private static func renewal(_ signed: Int64, renews: Bool) -> StatedRenewal {
        StatedRenewal(
            statedAt: Rules.later(signed), proofDigest: [UInt8](repeating: renews ? 1 : 0, count: 32),
            facts: RenewalFacts([.autoRenewStatus: .integer(renews ? 1 : 0)]))
    }

    @Test func `the renewal that was signed last wins, parked or not`() {
        let first = Rules.claim("1", expires: 10, renewal: Self.renewal(1, renews: true))
        let second = Rules.claim("1", signed: 2, expires: 10, renewal: Self.renewal(2, renews: false))
        let orders: [[Rules.Step]] = [
            [.redeem(first, Rules.alice), .state(second)], [.redeem(second, Rules.alice), .state(first)],
            [.state(first), .redeem(second, Rules.alice)], [.state(second), .redeem(first, Rules.alice)],
            [.state(second), .state(first), .redeem(Rules.claim("1", expires: 10), Rules.alice)],
        ]
        for steps in orders {
            let purchases = Rules.play(steps).decision.facts.purchases
            #expect(purchases.values.map(\.renewal?.facts) == [Self.renewal(2, renews: false).facts])
        }
    }

    @Test func `a statement of the same grace period, signed later, changes no end`() {
        func claim(_ signed: Int64, grace: Int64?) -> Claim {
            Rules.claim(signed: signed, expires: 10, grace: .until(grace.map(Rules.later)))
        }
        let decision = Rules.play([
            .redeem(Rules.claim(expires: 10), Rules.alice), .state(claim(1, grace: nil)), .state(claim(2, grace: nil)),
            .state(claim(3, grace: 20)), .state(claim(4, grace: 20)),
        ]).decision
        let ends = decision.changes.events.filter { if case .endChanged = $0 { true } else { false } }
        #expect(ends.count == 1)
    }

    @Test func `a refused claim states nothing`() {
        let claim = Rules.claim(facts: Self.facts(1, [.price: .integer(5)]))
        let other = Rules.claim(signed: 2, facts: Self.facts(2, [.price: .integer(6)]))
        let decision = Rules.play([.redeem(claim, Rules.alice), .redeem(other, Rules.bob)]).decision
        #expect(decision.facts.transactions.values.map { $0.stated?.integer(.price) } == [5])
    }
}
