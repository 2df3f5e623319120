import Entitlements
import Ledger
import Proofs
import Testing

/// The event three days before the end of a subscription that does not renew, in a period of thirty days.
@Suite struct EndNoticeRuleTests {
    private typealias Rules = RuleFixture

    private static let day: Int64 = 86_400
    private static let end = 30 * day

    /// What is stated or recorded on a day.
    enum Step: Sendable {
        /// The renewal is on or off, and the period ends on a day.
        case states(Bool, until: Int64 = 30)
        case prepaid(until: Int64)
        /// The monthly period of a commitment that the customer lets end.
        case commitmentEnds
        /// Another plan takes the place of the running one at once. Nil before its renewal is stated.
        case upgrade(Bool?, until: Int64)
        /// Time alone.
        case looks
    }

    struct Life: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The steps, with their days.
        let steps: [(day: Int64, step: Step)]
        /// The days of the notices, and of the ends that they state.
        let notices: [String]
    }

    static let lives = [
        Life(
            testDescription: "off in time",
            steps: [(0, .states(true)), (5, .states(false)), (27, .looks), (28, .looks)], notices: ["27 of 30"]),
        Life(
            testDescription: "looked at late", steps: [(0, .states(true)), (5, .states(false)), (29, .looks)],
            notices: ["27 of 30"]),
        Life(
            testDescription: "looked at after the end",
            steps: [(0, .states(true)), (5, .states(false)), (31, .looks)], notices: []),
        Life(
            testDescription: "stated once more after the notice",
            steps: [(0, .states(false)), (27, .looks), (28, .states(false)), (29, .looks)], notices: ["27 of 30"]),
        Life(testDescription: "renewing", steps: [(0, .states(true)), (27, .looks), (29, .looks)], notices: []),
        // Of this end, `autoRenewDisabled` has just told.
        Life(
            testDescription: "off in the last days",
            steps: [(0, .states(true)), (28, .states(false)), (29, .looks)], notices: []),
        Life(
            testDescription: "on again before the notice",
            steps: [(0, .states(false)), (20, .states(true)), (27, .looks), (29, .looks)], notices: []),
        Life(
            testDescription: "off, on and off again",
            steps: [(0, .states(false)), (20, .states(true)), (21, .states(false)), (27, .looks)],
            notices: ["27 of 30"]),
        Life(
            testDescription: "a period that is no longer than the notice",
            steps: [(0, .states(false, until: 3)), (2, .looks)], notices: []),
        Life(
            testDescription: "extended before the notice",
            steps: [(0, .states(false)), (20, .states(false, until: 40)), (29, .looks), (38, .looks)],
            notices: ["37 of 40"]),
        Life(
            testDescription: "extended after the notice",
            steps: [(0, .states(false)), (27, .looks), (28, .states(false, until: 40)), (38, .looks)],
            notices: ["27 of 30", "37 of 40"]),
        Life(
            testDescription: "told by a clock ahead, which is set back",
            steps: [(0, .states(false)), (28, .looks), (20, .states(false)), (21, .looks), (27, .looks), (29, .looks)],
            notices: ["27 of 30"]),
        Life(
            testDescription: "told by a clock ahead, and extended",
            steps: [(0, .states(false)), (28, .looks), (20, .states(false, until: 40)), (38, .looks)],
            notices: ["27 of 30", "37 of 40"]),
        Life(
            testDescription: "prepaid", steps: [(0, .prepaid(until: 30)), (27, .looks), (28, .looks)],
            notices: ["27 of 30"]),
        Life(
            testDescription: "a period of a commitment, which goes on",
            steps: [(0, .commitmentEnds), (27, .looks), (28, .looks)], notices: []),
        // Of the new plan, the store has stated nothing.
        Life(
            testDescription: "upgraded after the renewal was turned off",
            steps: [
                (0, .states(true)), (9, .states(false)), (10, .upgrade(nil, until: 40)), (37, .looks), (38, .looks),
            ], notices: []),
        Life(
            testDescription: "upgraded, and off again",
            steps: [
                (9, .states(false)), (10, .upgrade(nil, until: 40)), (11, .upgrade(false, until: 40)), (27, .looks),
                (37, .looks), (38, .looks),
            ], notices: ["37 of 40"]),
    ]

    private static func claim(_ step: Step, on day: Int64) -> Claim? {
        func claim(
            until end: Int64, facts: TransactionFacts? = nil, _ renewal: [RenewalFact: StatedValue]?
        ) -> Claim {
            Rules.claim(
                signed: day * Self.day, expires: end * Self.day, facts: facts,
                renewal: renewal.map {
                    StatedRenewal(
                        statedAt: Rules.later(day * Self.day), proofDigest: [], facts: RenewalFacts($0))
                })
        }
        return switch step {
        case .states(let isOn, let end): claim(until: end, [.autoRenewStatus: .integer(isOn ? 1 : 0)])
        case .prepaid(let end): claim(until: end, facts: TransactionFacts([.isPrepaid: .integer(1)]), nil)
        case .commitmentEnds:
            claim(
                until: 30,
                [.autoRenewStatus: .integer(1), .commitmentInfo: .text(#"{"commitmentAutoRenewStatus":0}"#)])
        case .upgrade(let isOn, let end):
            // Each statement is of the plan that began on day 10.
            Rules.claim(
                "2", original: "1", product: "gold", bought: 10 * Self.day, signed: day * Self.day,
                expires: end * Self.day,
                renewal: isOn.map {
                    StatedRenewal(
                        statedAt: Rules.later(day * Self.day), proofDigest: [],
                        facts: RenewalFacts([.autoRenewStatus: .integer($0 ? 1 : 0)]))
                })
        case .looks: nil
        }
    }

    @Test(arguments: lives) func `the end is told three days before, once for each end`(life: Life) {
        var facts = EntitlementFacts()
        var notices: [String] = []
        for (day, step) in life.steps {
            var decision = Rules.decision(after: day * Self.day, knowing: facts)
            if let claim = Self.claim(step, on: day) {
                _ = decision.redeem(claim, for: Rules.alice, by: .user)
                decision.recordStates { _ in .autoRenewableSubscription }
            } else {
                decision.recordStates(of: Set(facts.purchases.keys)) { _ in .autoRenewableSubscription }
            }
            facts = decision.facts
            for case .audit(let entry, Rules.alice) in decision.changes.events where entry.event == .endsSoon {
                let end = entry.reason.flatMap { Timestamp(rfc3339: $0) }
                let days = [entry.happenedAt, end].map { moment in
                    moment.map { "\(($0.secondsSince1970 - Rules.now.secondsSince1970) / Self.day)" } ?? "none"
                }
                notices.append(days.joined(separator: " of "))
            }
        }
        #expect(notices == life.notices)
    }

    /// The service was down, or its clock has jumped. Then a statement of the store may be on its way.
    @Test func `a held notice waits for a statement of after its moment, or for the end of the hold`() throws {
        /// The notices of a look on a day, and the moment of the next look, in days and hours.
        func look(
            _ facts: inout EntitlementFacts, on day: Int64, hold: Int64?, stating renews: Bool? = nil
        ) -> (count: Int, isAwaited: Bool, nextHour: Int64?) {
            var decision = Rules.decision(after: day * Self.day, knowing: facts)
            if let claim = renews.flatMap({ Self.claim(.states($0), on: day) }) {
                _ = decision.redeem(claim, for: Rules.alice, by: .user)
            }
            let originals = Set(decision.facts.purchases.keys)
            let awaiting = decision.recordStates(
                of: originals, holding: hold.map { Rules.later(day * Self.day + $0) }
            ) { _ in .autoRenewableSubscription }
            facts = decision.facts
            let next = originals.first.flatMap { facts.recordedStates[$0]?.changesAt }
            return (
                decision.story.count { $0.contains("endsSoon") }, awaiting.renewals == originals,
                next.map { ($0.secondsSince1970 - Rules.now.secondsSince1970) / 3600 }
            )
        }
        var facts = EntitlementFacts()
        #expect(look(&facts, on: 0, hold: nil, stating: false) == (0, false, 27 * 24))
        // Held on day 28 for two hours. The state is not read as an earlier one once more.
        #expect(look(&facts, on: 28, hold: 7200) == (0, true, 28 * 24 + 2))
        for (renews, count) in [(nil, 1), (false, 1), (true, 0)] as [(Bool?, Int)] {
            var known = facts
            #expect(look(&known, on: 29, hold: renews == nil ? nil : 7200, stating: renews) == (count, false, 30 * 24))
            #expect(look(&known, on: 29, hold: nil) == (0, false, 30 * 24))
        }
        // The hold may end after the period.
        #expect(look(&facts, on: 29, hold: 5 * Self.day) == (0, true, 30 * 24))
    }

    @Test func `another purchase with an end has no notice`() {
        var facts = EntitlementFacts()
        for day in [0, 27, 28] as [Int64] {
            var decision = Rules.decision(after: day * Self.day, knowing: facts)
            _ = decision.redeem(Rules.claim(expires: Self.end), for: Rules.alice, by: .user)
            decision.recordStates(of: Set(decision.facts.purchases.keys)) { _ in .nonRenewingSubscription }
            facts = decision.facts
            #expect(!decision.story.contains { $0.contains("endsSoon") })
        }
    }
}
