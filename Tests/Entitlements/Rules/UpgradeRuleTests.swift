import Entitlements
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

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
        // The refund of the upgraded period comes later.
        [old(), new, old(signed: 502, upgraded), old(revoked: true, signed: 590, upgraded)],
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

    @Test func `an upgraded period that was taken back before it began is revoked`() {
        let early = Rules.claim(
            "2", original: "1", product: "gold", bought: 500, revoked: true, signed: 400, item: Self.gold,
            expires: 1500, facts: TransactionFacts(Self.upgraded))
        let decision = Rules.play([.redeem(Self.old(), Rules.alice), .redeem(early, Rules.alice)], after: 600).decision
        #expect(decision.status(of: "2")?.isRevoked == true)
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

    @Test func `a change that was told is not told again with its refund`() {
        let claims = [
            Self.old(), Self.new, Self.old(signed: 502, Self.upgraded),
            Self.old(revoked: true, signed: 700, Self.upgraded),
        ]
        let decision = Rules.play(claims.map { .redeem($0, Rules.alice) }, after: 800).decision
        #expect(decision.story == ["1 granted 1", "1 productChanged 1", "1 granted 2"])
    }

    @Test func `a change at the renewal is no upgrade`() {
        let next = Rules.claim(
            "2", original: "1", product: "gold", bought: 1000, signed: 1000, item: Self.gold, expires: 2000)
        let decision = Rules.play([.redeem(Self.old(), Rules.alice), .redeem(next, Rules.alice)], after: 1100).decision
        #expect(decision.story == ["1 granted 1", "1 granted 2"])
    }

    /// A period of a base plan, as Google Play states it.
    private static func period(
        _ transaction: String, of plan: String?, product: String = "plus", bought: Int64, expires: Int64,
        for user: Int64? = nil
    ) -> Claim {
        Rules.claim(
            transaction, original: "1", product: product, bought: bought, signed: bought, of: user, item: gold,
            expires: expires, facts: TransactionFacts(plan.map { [.basePlanId: .text($0)] } ?? [:]))
    }

    private static let plans: [(name: String, claims: [Claim], reasons: [String])] = [
        (
            "another base plan of the same product",
            [
                period("1", of: "monthly", bought: 0, expires: 1000),
                period("2", of: "yearly", bought: 500, expires: 9000),
            ], ["plus:yearly"]
        ),
        (
            "another product",
            [
                period("1", of: "monthly", bought: 0, expires: 1000),
                period("2", of: "monthly", product: "gold", bought: 500, expires: 1500),
            ], ["gold:monthly"]
        ),
        (
            "the same plan before its end",
            [
                period("1", of: "monthly", bought: 0, expires: 1000),
                period("2", of: "monthly", bought: 500, expires: 1500),
            ], []
        ),
        (
            "another base plan at the renewal",
            [
                period("1", of: "monthly", bought: 0, expires: 1000),
                period("2", of: "yearly", bought: 1000, expires: 9000),
            ], []
        ),
        (
            "a plan that is not stated",
            [period("1", of: nil, bought: 0, expires: 1000), period("2", of: "yearly", bought: 500, expires: 9000)], []
        ),
        (
            "two changes",
            [
                period("1", of: "monthly", bought: 0, expires: 1000),
                period("2", of: "yearly", bought: 500, expires: 9000),
                period("3", of: "monthly", product: "gold", bought: 700, expires: 1700),
            ], ["plus:yearly", "gold:monthly"]
        ),
        (
            "a period of the same moment",
            [
                period("1", of: "monthly", bought: 0, expires: 1000),
                period("2", of: "yearly", bought: 500, expires: 9000),
                period("3", of: "yearly", bought: 500, expires: 18_000),
            ], ["plus:yearly"]
        ),
    ]

    @Test(arguments: plans.indices, [true, false])
    func `a change of the plan is told once, with the product and its base plan`(index: Int, isNewestFirst: Bool) {
        let (name, claims, reasons) = Self.plans[index]
        let steps = (isNewestFirst ? claims.reversed() : claims).map { RuleFixture.Step.redeem($0, Rules.alice) }
        let decision = Rules.play(steps, after: 800).decision
        let told = decision.changes.events.compactMap { event -> AuditEntry? in
            if case .audit(let entry, _) = event, entry.event == .productChanged { entry } else { nil }
        }
        #expect(Set(told.map(\.reason)) == Set(reasons) && told.count == reasons.count, "\(name)")
        #expect(!decision.story.contains { $0.contains("expired") || $0.contains("revoked") }, "\(name)")
    }

    @Test func `an upgrade that another user's account buys takes the replaced product from the former owner`() {
        let claims = [
            Self.period("1", of: nil, bought: 0, expires: 1000, for: Rules.alice),
            Self.period("2", of: nil, product: "gold", bought: 500, expires: 1500, for: Rules.bob),
        ]
        let decision = Rules.play(claims.map { .state($0) }, after: 600).decision
        #expect(
            decision.story == [
                "1 granted 1", "1 transferredOut 1", "2 transferredIn 1", "2 productChanged 1", "2 granted 2",
            ])
        let transfers = decision.changes.events.compactMap { event -> String? in
            guard case .audit(let entry, _) = event else { return nil }
            return [.transferredIn, .transferredOut].contains(entry.event) ? entry.subject : nil
        }
        #expect(transfers == ["plus", "plus"])
    }

    @Test func `a stated upgrade takes nothing before its new period is known`() throws {
        let claim = Self.old(revoked: true, signed: 501, Self.upgraded)
        let waiting = Rules.play([.redeem(claim, Rules.alice)], after: 600).decision
        #expect(waiting.story == ["1 granted 1"])
        let coverage = try #require(waiting.facts.coverage(of: claim.key)[claim.key])
        #expect(!coverage.isRevoked && coverage.endsAt == Rules.later(1000))
        let told = Rules.play([.redeem(claim, Rules.alice), .state(Self.new)], after: 600).decision
        #expect(told.story == ["1 granted 1", "1 productChanged 1", "1 granted 2"])
    }

    @Test(arguments: [(Int64(500), PurchaseState.active), (1000, .upgraded)])
    func `an upgraded period whose successor is unknown ends in time`(second: Int64, state: PurchaseState) throws {
        let transaction = RedeemedTransaction(
            sequence: 1, origin: .localSandbox, transactionIdentifier: "1", originalTransactionIdentifier: "1",
            productIdentifier: "plus", purchaseDate: Rules.later(0), redeemedAt: Rules.later(0),
            expiresAt: Rules.later(1000), facts: TransactionFacts(Self.upgraded))
        let status = try #require(
            PurchaseStatus([transaction], .autoRenewableSubscription, nil, at: Rules.later(second)))
        #expect(status.state == state)
    }

    @Test(arguments: [RevocationType.familyRevoke, .assignmentRevoke])
    func `the end of a share of an upgraded period is a revocation`(type: RevocationType) {
        let facts: [TransactionFact: StatedValue] = [.isUpgraded: .integer(1), .revocationType: .text(type.rawValue)]
        let decision = Rules.play(
            [.redeem(Self.old(), Rules.alice), .state(Self.old(revoked: true, signed: 700, facts))], after: 800
        ).decision
        #expect(decision.story == ["1 granted 1", "1 revoked 1"])
    }

    @Test func `of two periods of one moment, the upgraded one gives nothing`() {
        let both = [
            Self.old(Self.upgraded),
            Rules.claim("2", original: "1", product: "gold", bought: 0, signed: 1, item: Self.gold, expires: 1000),
        ]
        let decision = Rules.play(both.map { .redeem($0, Rules.alice) }, after: 100).decision
        let coverage = decision.facts.coverage(of: both[0].key)
        #expect(coverage[both[0].key]?.endsAt.map { $0 <= Rules.later(0) } == true)
        #expect(coverage[both[1].key]?.endsAt == Rules.later(1000))
    }

    @Test func `of two upgrades, each period ends with the next one`() {
        let claims = [
            Self.old(Self.upgraded),
            Rules.claim(
                "2", original: "1", product: "gold", bought: 500, signed: 501, item: Self.gold, expires: 1500,
                facts: TransactionFacts(Self.upgraded)),
            Rules.claim("3", original: "1", product: "plus", bought: 700, signed: 701, expires: 1700),
        ]
        let coverage = Rules.play(claims.map { .redeem($0, Rules.alice) }, after: 800).decision.facts.coverage(
            of: claims[0].key)
        #expect(claims.map { coverage[$0.key]?.endsAt } == [440, 640, 1700].map(Rules.later))
    }

    @Test(arguments: [(OwnershipPolicy.transferIfInactive(pauseSeconds: 0), "granted"), (.keep, "ownedByAnotherUser")])
    func `a replaced period is not active after its successor`(policy: OwnershipPolicy, result: String) {
        let long = Rules.claim("1", product: "plus", expires: 100_000)
        let new = Rules.claim(
            "2", original: "1", product: "gold", bought: 500, signed: 501, item: Self.gold, expires: 1500)
        let results = Rules.play(
            [.redeem(long, Rules.alice), .redeem(new, Rules.alice), .redeem(long, Rules.bob)], under: policy,
            after: 2000
        ).results
        #expect(results.last == result)
    }
}
