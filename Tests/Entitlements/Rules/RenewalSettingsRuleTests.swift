import Entitlements
import Foundation
import Proofs
import Testing
import Vocabulary

/// The time at which renewal was first seen off since it was last on.
@Suite struct RenewalSettingsRuleTests {
    typealias Rules = RuleFixture

    /// A statement: the second of its signature, and whether renewal is on; nil if it does not tell.
    typealias Statement = (second: Int64, isOn: Bool?)

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let statements: [Statement]
        /// The second at which renewal was turned off; nil if it may be on.
        let turnedOff: Int64?

        init(_ description: String, _ statements: [Statement], turnedOff: Int64?) {
            (testDescription, self.statements, self.turnedOff) = (description, statements, turnedOff)
        }
    }

    static let cases = [
        Case("on", [(0, true), (10, true)], turnedOff: nil),
        Case("off at once", [(10, false)], turnedOff: 10),
        Case(
            "off, and stated again, as by a refund", [(0, true), (10, false), (20, false), (30, false)], turnedOff: 10),
        Case("on again", [(10, false), (20, false), (30, true)], turnedOff: nil),
        Case("on again, and off again", [(10, false), (20, true), (30, false), (40, false)], turnedOff: 30),
        Case("on between two of off", [(10, false), (20, false), (25, true), (30, false), (40, false)], turnedOff: 30),
        Case("off twice in turn", [(10, false), (15, true), (20, false), (25, true), (30, false)], turnedOff: 30),
        Case("last a statement that does not tell", [(10, false), (20, nil)], turnedOff: nil),
        Case("between a statement that does not tell", [(10, false), (20, nil), (30, false)], turnedOff: 10),
        Case("on and off at one moment, and off later", [(10, true), (10, false), (20, false)], turnedOff: 20),
    ]

    private static func renewal(_ statement: Statement) -> StatedRenewal {
        var facts = RenewalFacts([.productId: .text("p")])
        facts[.autoRenewStatus] = statement.isOn.map { .integer($0 ? 1 : 0) }
        return StatedRenewal(
            statedAt: Rules.later(statement.second),
            proofDigest: [UInt8](repeating: statement.isOn.map { $0 ? 1 : 2 } ?? 0, count: 32), facts: facts)
    }

    private static func claim(_ statement: Statement) -> Claim {
        Rules.claim(signed: statement.second, expires: 1_000_000, renewal: renewal(statement))
    }

    private static func permutations<Element>(of elements: [Element]) -> [[Element]] {
        guard let first = elements.first else { return [[]] }
        return permutations(of: Array(elements.dropFirst())).flatMap { rest in
            (0...rest.count).map { Array(rest[..<$0]) + [first] + rest[$0...] }
        }
    }

    /// Alice redeems the purchase before a number of its statements. Those before are parked.
    private static func renewal(after statements: [Statement], redeemingAfter count: Int) throws -> StatedRenewal {
        var steps = statements.map { Rules.Step.state(claim($0)) }
        steps.insert(.redeem(Rules.claim(expires: 1_000_000), Rules.alice), at: count)
        return try #require(Rules.play(steps).decision.facts.purchases.values.first?.renewal)
    }

    @Test(arguments: cases) func `the date follows from all statements, in any order`(example: Case) throws {
        let expected = example.turnedOff.map(Rules.later)
        var results: Set<StatedRenewal> = []
        for order in Self.permutations(of: example.statements) {
            for statements in [order, order + order.reversed()] {
                for count in [0, 1, statements.count] {
                    let renewal = try Self.renewal(after: statements, redeemingAfter: count)
                    #expect(renewal.turnedOffAt(inPeriodFrom: Rules.now) == expected, "\(statements), \(count)")
                    results.insert(renewal)
                }
            }
        }
        #expect(results.count == 1)
    }

    @Test func `a renewal that is on has nothing to keep`() throws {
        for statements in [[(0, true)], [(0, false), (10, true)], [(10, false)], [(0, nil)]] as [[Statement]] {
            #expect(try Self.renewal(after: statements, redeemingAfter: 0).settings == nil)
        }
    }

    @Test func `a late statement of an earlier date tells no event, and does not change the state`() {
        let known = Rules.play([
            .redeem(Self.claim((0, true)), Rules.alice), .state(Self.claim((10, false))),
            .state(Self.claim((30, false))),
        ]).decision
        var decision = Rules.decision(after: 40, knowing: known.facts)
        _ = decision.state(Self.claim((20, true)))
        decision.recordStates { _ in .autoRenewableSubscription }
        #expect(decision.story == [])
        let renewal = decision.facts.purchases.values.first?.renewal
        #expect(renewal?.turnedOffAt(inPeriodFrom: Rules.now) == Rules.later(30))
    }

    @Test func `a new period has been renewed or bought, so an earlier date does not count for it`() throws {
        let day: Int64 = 86_400
        let renewal = try Self.renewal(after: [(10, false), (5 * day, false), (6 * day, false)], redeemingAfter: 0)
        #expect(renewal.turnedOffAt(inPeriodFrom: Rules.now) == Rules.later(10))
        #expect(renewal.turnedOffAt(inPeriodFrom: Rules.later(3 * day)) == Rules.later(5 * day))
        // The App Store charges within a day before a period begins.
        #expect(renewal.turnedOffAt(inPeriodFrom: Rules.later(6 * day)) == Rules.later(5 * day))
    }

    @Test func `many statements of one setting keep the first date, and few bytes`() throws {
        let statements = [(0, true)] + (1...500).map { ($0, false) } as [Statement]
        for order in [statements, statements.reversed()] {
            let renewal = try Self.renewal(after: order, redeemingAfter: 0)
            #expect(renewal.turnedOffAt(inPeriodFrom: Rules.now) == Rules.later(1))
            #expect(try #require(renewal.settings).rawValue.utf8.count < 300)
        }
    }

    @Test(arguments: ["5+", "5-", "5+ 6-", "5-1 6-2", "5+1 5-2 9-9007199254740991", "-5- -4-"])
    func `settings have a text`(text: String) throws {
        let settings = try #require(RenewalSettings(rawValue: text))
        #expect(settings.rawValue == text)
        let json = try JSONEncoder().encode([settings])
        #expect(try JSONDecoder().decode([RenewalSettings].self, from: json) == [settings])
    }

    @Test(arguments: ["", " ", "5", "+", "x+", "5+x", "5+ ", "6- 5-", "5- 6+", "5- 5-", "05+", "5+0"])
    func `another text is none of settings`(text: String) {
        #expect(RenewalSettings(rawValue: text) == nil)
    }
}
