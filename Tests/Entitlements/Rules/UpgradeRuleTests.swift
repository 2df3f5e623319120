import Entitlements
import Proofs
import TestSupport
import Testing

/// An upgrade is no refund, though the App Store may state it as the revocation of the replaced period.
@Suite struct UpgradeRuleTests {
    private typealias Rules = RuleFixture

    private static let gold = Item(collection: "gold", number: 1)
    private static let upgraded: [TransactionFact: StatedValue] = [.isUpgraded: .integer(1)]

    /// The period of 1000 seconds that is replaced after 500.
    private static func old(
        revoked: Bool = false,
        signed: Int64 = 0,
        _ facts: [TransactionFact: StatedValue] = [:]
    ) -> Claim {
        Rules.claim(
            "1", product: "plus", revoked: revoked, signed: signed, expires: 1000, facts: TransactionFacts(facts))
    }

    private static let new = Rules.claim(
        "2", original: "1", product: "gold", bought: 500, signed: 501, item: gold, expires: 1500)

    private static let stories: [[Claim]] = [
        [old(), new],
        [old(), new, old(revoked: true, signed: 501)],
        [old(), old(revoked: true, signed: 501), new],
        [old(revoked: true, signed: 501), new],
        [new, old(revoked: true, signed: 501)],
        [new, old(signed: 502, upgraded)],
        [old(), new, old(revoked: true, signed: 502, upgraded)],
        [old(), old(revoked: true, signed: 502, upgraded), new],
    ]

    @Test(arguments: stories.indices, [true, false])
    func `the new product counts, and the old one is not revoked`(index: Int, isNotified: Bool) {
        let story = Self.stories[index]
        // A statement for nobody is parked, so the customer presents everything at the end.
        let steps: [RuleFixture.Step] =
            isNotified
            ? story.map { .state($0) } + story.map { .redeem($0, Rules.alice) }
            : story.map { .redeem($0, Rules.alice) }
        let decision = Rules.play(steps, after: 600).decision
        #expect(decision.status(of: "1")?.isRevoked == false)
        #expect(decision.status(of: "2")?.isRevoked == false)
        let coverage = decision.facts.coverage(of: Self.old().key)
        #expect(coverage[Self.old().key]?.endsAt == Rules.later(440))
        #expect(coverage.values.allSatisfy { !$0.isRevoked })
        #expect(decision.story.contains("1 productChanged 1"))
    }

    @Test(arguments: [[0, 1], [1, 0]])
    func `a proof with both periods reports a change of the product, and no revocation`(order: [Int]) {
        let proof = [Self.old(revoked: true, signed: 501), Self.new]
        var decision = Rules.decision(after: 600)
        decision.presented = proof
        let results = order.map { decision.redeem(proof[$0], for: Rules.alice, by: .user) }
        #expect(results == [.granted, .granted])
        #expect(decision.story.sorted() == ["1 granted 1", "1 granted 2", "1 productChanged 1"])
    }

    private static let refunds: [(name: String, claims: [Claim])] = [
        ("at another moment", [old(), new, old(revoked: true, signed: 700)]),
        (
            "of the same product",
            [
                Rules.claim("2", original: "1", product: "plus", bought: 500, signed: 501, expires: 1500),
                old(revoked: true, signed: 501),
            ]
        ),
        ("without a new period", [old(), old(revoked: true, signed: 501)]),
        (
            "when an earlier period began",
            [
                Rules.claim("2", original: "1", product: "gold", bought: -500, signed: -500, item: gold, expires: 0),
                old(revoked: true, signed: 0),
            ]
        ),
    ]

    @Test(arguments: refunds.indices) func `another revocation is a refund`(index: Int) {
        let refund = Self.refunds[index]
        let steps = refund.claims.map { RuleFixture.Step.redeem($0, Rules.alice) }
        let decision = Rules.play(steps, after: 800).decision
        #expect(decision.status(of: "1")?.isRevoked == true, "\(refund.name)")
        #expect(decision.story.contains("1 revoked 1"), "\(refund.name)")
    }

    @Test func `a change at the renewal is no upgrade`() {
        let next = Rules.claim(
            "2", original: "1", product: "gold", bought: 1000, signed: 1000, item: Self.gold, expires: 2000)
        let decision = Rules.play([.redeem(Self.old(), Rules.alice), .redeem(next, Rules.alice)], after: 1100).decision
        #expect(decision.story == ["1 granted 1", "1 granted 2"])
    }

    @Test func `a stated upgrade without its new period is an upgrade`() throws {
        let claim = Self.old(revoked: true, signed: 501, Self.upgraded)
        let decision = Rules.play([.redeem(claim, Rules.alice)], after: 600).decision
        #expect(decision.story == ["1 productChanged 1"])
        let transaction = RedeemedTransaction(
            sequence: 1, origin: .localSandbox, transactionIdentifier: "1", originalTransactionIdentifier: "1",
            productIdentifier: "plus", purchaseDate: Rules.later(0), redeemedAt: Rules.later(600),
            revocationDate: Rules.later(501),
            expiresAt: Rules.later(0), facts: TransactionFacts(Self.upgraded))
        let status = try #require(
            PurchaseStatus([transaction], .autoRenewableSubscription, nil, at: Rules.later(600)))
        #expect(status.state == .upgraded)
    }
}
