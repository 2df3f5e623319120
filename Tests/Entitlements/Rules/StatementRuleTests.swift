import Entitlements
import Proofs
import Testing

/// The rules of statements: parking, revocation, grace periods and restored purchases.
@Suite struct StatementRuleTests {
    typealias Rules = RuleFixture

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let steps: [RuleFixture.Step]
        let results: [String]
        let story: [String]
    }

    static let parking = [
        Case(
            testDescription: "a statement for nobody waits for its transaction",
            steps: [.state(Rules.claim(revoked: true, signed: 5)), .redeem(Rules.claim(), Rules.alice)],
            results: ["parked", "revoked"], story: ["1 revoked 1"]),
        Case(
            testDescription: "of two parked statements the later wins",
            steps: [
                .state(Rules.claim(signed: 9)), .state(Rules.claim(revoked: true, signed: 5)),
                .redeem(Rules.claim(), Rules.alice),
            ],
            results: ["parked", "parked", "granted"], story: ["1 granted 1"]),
        Case(
            testDescription: "the parked renewals of a subscription are applied with its first transaction",
            steps: [
                .state(Rules.claim("3", original: "1", bought: 20, expires: 30)),
                .state(Rules.claim("2", original: "1", bought: 10, expires: 20)),
                .redeem(Rules.claim("1", expires: 10), Rules.alice),
            ],
            results: ["parked", "parked", "granted"], story: ["1 granted 1", "1 granted 2", "1 granted 3"]),
        Case(
            testDescription: "a statement of an unknown product waits, also for an owner",
            steps: [
                .redeem(Rules.claim("1"), Rules.alice), .state(Rules.claim("2", original: "1", item: nil)),
                .redeem(Rules.claim("2", original: "1"), Rules.alice),
            ],
            results: ["granted", "parked", "granted"], story: ["1 granted 1", "1 granted 2"]),
        Case(
            testDescription: "a parked token names the owner of a receipt's transaction",
            steps: [.state(Rules.claim(of: 99)), .redeem(Rules.claim(), Rules.bob)],
            results: ["parked", "granted"], story: ["2 granted 1"]),
    ]

    static let revocation = [
        Case(
            testDescription: "a refund revokes, and its reversal grants again",
            steps: [
                .redeem(Rules.claim(), Rules.alice), .state(Rules.claim(revoked: true, signed: 5)),
                .state(Rules.claim(signed: 9)),
            ],
            results: ["granted", "revoked", "granted"], story: ["1 granted 1", "1 revoked 1", "1 granted 1"]),
        Case(
            testDescription: "an older statement changes nothing",
            steps: [
                .redeem(Rules.claim(signed: 9), Rules.alice), .state(Rules.claim(revoked: true, signed: 5)),
            ],
            results: ["granted", "recorded"], story: ["1 granted 1"]),
        Case(
            testDescription: "of two signed in the same millisecond the one that revokes wins",
            steps: [
                .redeem(Rules.claim(signed: 5), Rules.alice), .state(Rules.claim(revoked: true, signed: 5)),
                .state(Rules.claim(signed: 5)),
            ],
            results: ["granted", "revoked", "recorded"], story: ["1 granted 1", "1 revoked 1"]),
    ]

    static let repeats = [
        Case(
            testDescription: "a refund of one transaction is one of all that repeat the purchase",
            steps: [
                .redeem(Rules.claim("1", repeatsOriginal: true), Rules.alice),
                .redeem(Rules.claim("2", original: "1", repeatsOriginal: true, signed: 1), Rules.alice),
                .state(Rules.claim("1", revoked: true, repeatsOriginal: true, signed: 5)),
            ],
            results: ["granted", "granted", "revoked"],
            story: ["1 granted 1", "1 granted 2", "1 revoked 2", "1 revoked 1"]),
        Case(
            testDescription: "a purchase restored after its refund stays refunded",
            steps: [
                .redeem(Rules.claim("1", repeatsOriginal: true), Rules.alice),
                .state(Rules.claim("1", revoked: true, repeatsOriginal: true, signed: 5)),
                .redeem(Rules.claim("2", original: "1", repeatsOriginal: true, signed: 1), Rules.alice),
            ],
            results: ["granted", "revoked", "revoked"], story: ["1 granted 1", "1 revoked 1", "1 revoked 2"]),
        Case(
            testDescription: "another product of the same original is another purchase",
            steps: [
                .redeem(Rules.claim("1", repeatsOriginal: true), Rules.alice),
                .redeem(Rules.claim("2", original: "1", product: "q", repeatsOriginal: true), Rules.alice),
                .state(Rules.claim("1", revoked: true, repeatsOriginal: true, signed: 5)),
            ],
            results: ["granted", "granted", "revoked"], story: ["1 granted 1", "1 granted 2", "1 revoked 1"]),
    ]

    @Test(arguments: parking + revocation + repeats)
    func `statements are applied in the order of their signatures`(story: Case) {
        let (results, decision) = Rules.play(story.steps, after: 100)
        #expect(results == story.results)
        #expect(decision.story == story.story)
    }

    /// Grace periods as pairs of the second of the signature and the second of the end; nil for no grace period.
    @Test(
        arguments: [
            ([(1, 50)], 50), ([(1, 50), (2, nil)], nil), ([(2, nil), (1, 50)], nil), ([(1, 50), (1, 60)], 60),
            ([(1, 60), (1, 50)], 60), ([(3, 40), (1, 60)], 40),
        ] as [([(Int64, Int64?)], Int64?)])
    func `the grace period stated last wins, and of two at once the longer`(
        stated: [(Int64, Int64?)], expected: Int64?
    ) {
        let steps = stated.map { signed, ends in
            RuleFixture.Step.state(
                Rules.claim(signed: signed, of: Rules.alice, expires: 10, grace: .until(ends.map(Rules.later))))
        }
        let (_, decision) = Rules.play(steps)
        #expect(decision.facts.transactions[Rules.claim().key]?.grace?.endsAt == expected.map(Rules.later))
    }

    /// A statement of the second at which a grace period ends, or of that at which there is none any more.
    typealias GraceStatement = (signed: Int64, ends: Int64, isOver: Bool)

    @Test(
        arguments: [
            ([(1, 1, true)], nil), ([(1, 1, true), (20, 20, true)], nil), ([(20, 20, true), (1, 1, true)], nil),
            ([(1, 1, true), (11, 50, false)], 50), ([(11, 50, false), (1, 1, true)], 50),
            ([(11, 50, false), (20, 20, true)], 20), ([(20, 20, true), (11, 50, false)], 20),
            ([(1, 1, true), (11, 50, false), (20, 20, true)], 20), ([(11, 50, false), (60, 60, true)], 50),
        ] as [([GraceStatement], Int64?)])
    func `parked statements that no grace period runs end one, and are none`(
        stated: [GraceStatement], expected: Int64?
    ) {
        let steps = stated.map { signed, ends, isOver in
            let end = Rules.later(ends)
            return RuleFixture.Step.state(
                Rules.claim(signed: signed, expires: 10, grace: isOver ? .over(at: end) : .until(end)))
        }
        let (_, decision) = Rules.play(steps + [.redeem(Rules.claim(expires: 10), Rules.alice)])
        #expect(decision.facts.transactions[Rules.claim().key]?.grace?.endsAt == expected.map(Rules.later))
    }

    @Test func `a statement from an origin that is not accepted for its user grants nothing`() {
        var decision = RuleFixture.decision().facts.decision(accepting: [.localProduction], at: Rules.now)
        #expect(decision.state(Rules.claim(of: Rules.alice)) == .recorded)
        #expect(decision.story == [])
        #expect(decision.facts.transactions.isEmpty)
        #expect(decision.facts.parked.count == 1)
    }

    @Test func `a team's revocation stays, regardless of the App Store`() {
        var facts = EntitlementFacts()
        facts.revokedByTeam = [Rules.claim().key]
        let (results, decision) = Rules.play(
            [.redeem(Rules.claim(), Rules.alice), .state(Rules.claim(signed: 5))], knowing: facts)
        #expect(results == ["revoked", "recorded"])
        #expect(decision.story == ["1 revoked 1"])
    }
}
