import Entitlements
import Ledger
import Proofs
import Testing

/// The events of a subscription with one period of 100 seconds, by the state in its owner's history.
@Suite struct HistoryRuleTests {
    typealias Rules = RuleFixture

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        var recorded: HistoryState?
        var after: Int64 = 50
        /// The last second at which no silent end is reported.
        var hold: Int64?
        var graceEnds: Int64?
        var renewal: [RenewalFact: StatedValue]?
        /// The second of the statement about the renewal.
        var stated: Int64 = 20
        var revoked = false
        var type: ProductType? = .autoRenewableSubscription
        /// The events with the second at which each took effect.
        var events: [String] = []
        let state: PurchaseState
        /// The second at which time alone changes the state.
        var changes: Int64?
    }

    private static let day: Int64 = 86400
    private static let active = HistoryState(state: .active, renews: true, changesAt: nil)
    private static let retry: [RenewalFact: StatedValue] = [
        .autoRenewStatus: .integer(1), .isInBillingRetryPeriod: .integer(1),
    ]

    private static let ended: [RenewalFact: StatedValue] = [
        .autoRenewStatus: .integer(0), .isInBillingRetryPeriod: .integer(0), .expirationIntent: .integer(2),
    ]

    private static let cancelledCommitment: [RenewalFact: StatedValue] = [
        .autoRenewStatus: .integer(1), .commitmentInfo: .text(#"{"commitmentAutoRenewStatus":0}"#),
    ]

    static let cases = [
        Case(testDescription: "a first period has no event of its own", state: .active, changes: 100),
        Case(
            testDescription: "renewal turned off before the first redemption is recorded",
            renewal: [.autoRenewStatus: .integer(0)], events: ["autoRenewDisabled 20"], state: .willNotRenew,
            changes: 100),
        Case(
            testDescription: "renewal is turned off", recorded: active, renewal: [.autoRenewStatus: .integer(0)],
            events: ["autoRenewDisabled 20"], state: .willNotRenew, changes: 100),
        Case(
            testDescription: "renewal is turned on again",
            recorded: HistoryState(state: .willNotRenew, renews: false, changesAt: nil),
            renewal: [.autoRenewStatus: .integer(1)], events: ["autoRenewEnabled 20"], state: .active, changes: 100),
        Case(
            testDescription: "a known state is not recorded again", recorded: active,
            renewal: [.autoRenewStatus: .integer(1)], state: .active, changes: 100),
        Case(
            testDescription: "the end of a period that may renew waits for the statement", recorded: active,
            after: 130,
            state: .active, changes: 100 + 3600),
        Case(
            testDescription: "time ends a period", recorded: active, after: 100 + 3600, events: ["expired 100"],
            state: .expired),
        Case(
            testDescription: "a held end waits", recorded: active, after: 8000, hold: 8060, state: .active,
            changes: 8060),
        Case(
            testDescription: "a hold shortens no wait", recorded: active, after: 130, hold: 190, state: .active,
            changes: 100 + 3600),
        Case(
            testDescription: "a hold that is over keeps no end", recorded: active, after: 8000, hold: 7999,
            events: ["expired 100"], state: .expired),
        Case(
            testDescription: "a stated end is not held", recorded: active, after: 8000, hold: 8060,
            renewal: [.autoRenewStatus: .integer(0), .expirationIntent: .integer(1)], stated: 110,
            events: ["expired 100 customerCancelled"], state: .expired),
        Case(
            testDescription: "the end of a purchase that never renews is not held", after: 130, hold: 190,
            type: .nonRenewingSubscription, events: ["expired 100"], state: .expired),
        Case(
            testDescription: "the end of a grace period is held",
            recorded: HistoryState(state: .gracePeriod, renews: true, changesAt: nil), after: 210, hold: 270,
            graceEnds: 200, renewal: retry, state: .gracePeriod, changes: 270),
        Case(
            testDescription: "the end of billing retry is held",
            recorded: HistoryState(state: .billingRetry, renews: true, changesAt: nil), after: 100 + 61 * day,
            hold: 160 + 61 * day, renewal: retry, state: .billingRetry, changes: 160 + 61 * day),
        Case(
            testDescription: "an end in the history is not held",
            recorded: HistoryState(state: .expired, renews: nil, changesAt: nil), after: 8000, hold: 8060,
            state: .expired),
        Case(
            testDescription: "an end has its reason", recorded: active, after: 130,
            renewal: [.autoRenewStatus: .integer(0), .expirationIntent: .integer(1)], stated: 110,
            events: ["expired 100 customerCancelled"], state: .expired),
        Case(
            testDescription: "renewal turned off before the end, and heard after it", recorded: active, after: 130,
            renewal: [.autoRenewStatus: .integer(0)],
            events: ["autoRenewDisabled 20", "expired 100 customerCancelled"], state: .expired),
        Case(
            testDescription: "renewal turned off before a refund is told once, also if the refund is reversed",
            recorded: HistoryState(state: .revoked, renews: nil, changesAt: nil), after: 130,
            renewal: [.autoRenewStatus: .integer(0)], events: ["expired 100 customerCancelled"], state: .expired),
        Case(
            testDescription: "a grace period begins at the end of the paid period", recorded: active, after: 110,
            graceEnds: 200, renewal: retry, events: ["gracePeriodBegan 100"], state: .gracePeriod, changes: 200),
        Case(
            testDescription: "billing retry follows the grace period",
            recorded: HistoryState(state: .gracePeriod, renews: true, changesAt: nil), after: 210, graceEnds: 200,
            renewal: retry, events: ["renewalFailed 200"], state: .billingRetry, changes: 100 + 60 * day),
        Case(
            testDescription: "without a grace period it follows the paid period", recorded: active, after: 110,
            renewal: retry, events: ["renewalFailed 100"], state: .billingRetry, changes: 100 + 60 * day),
        Case(
            testDescription: "billing retry ends after 60 days",
            recorded: HistoryState(state: .billingRetry, renews: true, changesAt: nil), after: 100 + 61 * day,
            renewal: retry.merging([.expirationIntent: .integer(2)]) { $1 },
            events: ["expired \(100 + 60 * day) billingError"],
            state: .expired),
        Case(
            testDescription: "a cancelled commitment is recorded", recorded: active, renewal: cancelledCommitment,
            events: ["autoRenewDisabled 20"], state: .willNotRenew, changes: 100),
        Case(
            testDescription: "the next period of a cancelled commitment is awaited",
            recorded: HistoryState(state: .willNotRenew, renews: false, changesAt: nil), after: 130,
            renewal: cancelledCommitment, state: .willNotRenew, changes: 100 + 3600),
        Case(
            testDescription: "billing retry ends after 90 days under a commitment",
            recorded: HistoryState(state: .billingRetry, renews: true, changesAt: nil), after: 100 + 91 * day,
            renewal: retry.merging([.commitmentInfo: .text("{}")]) { $1 }, events: ["expired \(100 + 90 * day)"],
            state: .expired),
        Case(
            testDescription: "the limit of a commitment counts, too, if the statement of the end leaves it out",
            recorded: HistoryState(state: .billingRetry, renews: true, changesAt: Rules.later(100 + 90 * day)),
            after: 100 + 92 * day, renewal: ended, stated: 100 + 91 * day,
            events: ["expired \(100 + 90 * day) billingError"], state: .expired),
        Case(
            testDescription: "an earlier end that is stated counts under a commitment",
            recorded: HistoryState(state: .billingRetry, renews: true, changesAt: Rules.later(100 + 90 * day)),
            after: 100 + 81 * day, renewal: ended, stated: 100 + 80 * day,
            events: ["expired \(100 + 80 * day) billingError"], state: .expired),
        Case(
            testDescription: "without a commitment, the end is stated at the limit or later",
            recorded: HistoryState(state: .billingRetry, renews: true, changesAt: Rules.later(100 + 60 * day)),
            after: 100 + 81 * day, renewal: ended, stated: 100 + 80 * day,
            events: ["expired \(100 + 60 * day) billingError"], state: .expired),
        Case(testDescription: "a refund has its own event", recorded: active, revoked: true, state: .revoked),
        Case(
            testDescription: "a purchase with an end expires", recorded: nil, after: 130,
            type: .nonRenewingSubscription, events: ["expired 100"], state: .expired),
    ]

    @Test(arguments: cases) func `events follow from the state before and the state now`(example: Case) throws {
        let claim = Rules.claim(
            revoked: example.revoked, expires: 100, grace: example.graceEnds.map { .until(Rules.later($0)) })
        let key = claim.key
        var facts = Rules.play([.redeem(claim, Rules.alice)]).decision.facts
        var transaction = EntitlementFacts.Transaction(claim, TransactionStatus(claim))
        transaction.grace = GracePeriod(claim)
        facts.set(transaction, for: key)
        if let renewal = example.renewal {
            facts.set(
                StatedRenewal(statedAt: Rules.later(example.stated), proofDigest: [], facts: RenewalFacts(renewal)),
                for: key)
        }
        facts.recordedStates[key] = example.recorded
        var decision = facts.decision(accepting: [.localSandbox], at: Rules.later(example.after))
        decision.recordStates(of: [key], holding: example.hold.map(Rules.later)) { _ in example.type }
        let events = decision.changes.events.compactMap { event -> String? in
            guard case .audit(let entry, Rules.alice) = event else { return nil }
            let seconds = (entry.happenedAt.millisecondsSince1970 - Rules.now.millisecondsSince1970) / 1000
            return (["\(entry.event.rawValue) \(seconds)"] + [entry.reason].compactMap(\.self)).joined(separator: " ")
        }
        #expect(events == example.events)
        let recorded = try #require(decision.facts.recordedStates[key])
        #expect(recorded.state == example.state)
        #expect(recorded.changesAt == example.changes.map(Rules.later))
        // The events are recorded once.
        var again = decision.facts.decision(accepting: [.localSandbox], at: Rules.later(example.after))
        again.recordStates(of: [key], holding: example.hold.map(Rules.later)) { _ in example.type }
        #expect(again.changes == EntitlementChanges())
    }

    @Test func `a period that is granted after the end of the purchase has an end of its own`() {
        func decision(_ facts: EntitlementFacts, after seconds: Int64, _ claim: Claim? = nil) -> EntitlementDecision {
            var decision = Rules.decision(after: seconds, knowing: facts)
            if let claim { _ = decision.redeem(claim, for: Rules.alice, by: .user) }
            decision.recordStates { _ in .autoRenewableSubscription }
            decision.recordStates(of: Set(decision.facts.purchases.keys)) { _ in .autoRenewableSubscription }
            return decision
        }
        func period(_ number: Int64) -> Claim {
            Rules.claim(
                "\(number)", original: "1", bought: number * 100, signed: number * 100, expires: number * 100 + 100)
        }
        let first = decision(EntitlementFacts(), after: 5000, period(1))
        #expect(first.story == ["1 granted 1", "1 expired 1"])
        let second = decision(first.facts, after: 6000, period(2))
        #expect(second.story == ["1 granted 2", "1 expired 2"])
        // The renewal of a period that has just ended may be under way.
        let third = decision(second.facts, after: 6050, period(59))
        #expect(third.story == ["1 granted 59"])
        #expect(decision(third.facts, after: 6000 + 3600).story == ["1 expired 59"])
        // An earlier period changes nothing.
        #expect(decision(second.facts, after: 6000, period(0)).story == ["1 granted 0"])
    }

    private static func permutations<Element>(of elements: [Element]) -> [[Element]] {
        guard let first = elements.first else { return [[]] }
        return permutations(of: Array(elements.dropFirst())).flatMap { rest in
            (0...rest.count).map { Array(rest[..<$0]) + [first] + rest[$0...] }
        }
    }

    /// The App Store states an upgrade in several parts: the transaction in the app, and both transactions in notifications.
    @Test func `an upgrade turns no renewal on, in whichever order its statements arrive`() {
        func renewal(_ isOn: Bool, at second: Int64) -> StatedRenewal {
            StatedRenewal(
                statedAt: Rules.later(second), proofDigest: [],
                facts: RenewalFacts([.autoRenewStatus: .integer(isOn ? 1 : 0)]))
        }
        func basic(signed: Int64, _ facts: TransactionFacts? = nil, _ renewal: StatedRenewal? = nil) -> Claim {
            Rules.claim("1", signed: signed, expires: 1000, facts: facts, renewal: renewal)
        }
        func gold(signed: Int64, _ renewal: StatedRenewal? = nil) -> Claim {
            Rules.claim(
                "2", original: "1", product: "gold", bought: 600, signed: signed, expires: 1600, renewal: renewal)
        }
        let upgraded = TransactionFacts([
            .isUpgraded: .integer(1), .signedDate: .integer(Rules.later(601).millisecondsSince1970),
        ])
        let statements = [
            basic(signed: 500, nil, renewal(false, at: 500)), gold(signed: 600), basic(signed: 601, upgraded),
            gold(signed: 602, renewal(true, at: 602)),
        ]
        for order in Self.permutations(of: statements) {
            for isTogether in [false, true] {
                var facts = EntitlementFacts()
                var story: [String] = []
                func decide(_ claims: [Claim]) {
                    var decision = Rules.decision(after: 700, knowing: facts)
                    for claim in claims { _ = decision.redeem(claim, for: Rules.alice, by: .user) }
                    decision.recordStates { _ in .autoRenewableSubscription }
                    facts = decision.facts
                    story += decision.story
                }
                decide([basic(signed: 0, nil, renewal(true, at: 0))])
                for group in isTogether ? [order] : order.map({ [$0] }) { decide(group) }
                #expect(!story.contains { $0.contains("autoRenewEnabled") }, "\(story)")
                #expect(facts.recordedStates.values.map(\.renews) == [true], "\(story)")
            }
        }
    }

    @Test func `a customer who subscribes again has turned no renewal off`() {
        func claim(_ number: Int64, renewal second: Int64? = nil, _ facts: [RenewalFact: StatedValue] = [:]) -> Claim {
            let start = (number - 1) * 107
            return Rules.claim(
                "\(number)", original: "1", bought: start, signed: second ?? start, expires: start + 105,
                renewal: second.map {
                    StatedRenewal(statedAt: Rules.later($0), proofDigest: [], facts: RenewalFacts(facts))
                })
        }
        var facts = EntitlementFacts()
        func story(after seconds: Int64, _ claim: Claim) -> [String] {
            var decision = Rules.decision(after: seconds, knowing: facts)
            _ = decision.redeem(claim, for: Rules.alice, by: .user)
            decision.recordStates { _ in .autoRenewableSubscription }
            facts = decision.facts
            return decision.story
        }
        #expect(
            story(after: 20, claim(1, renewal: 20, [.autoRenewStatus: .integer(0)]))
                == ["1 granted 1", "1 autoRenewDisabled 1"])
        let end: [RenewalFact: StatedValue] = [.autoRenewStatus: .integer(0), .expirationIntent: .integer(1)]
        #expect(story(after: 107, claim(1, renewal: 105, end)) == ["1 expired 1"])
        // The app presents the new period before the notification about it arrives.
        #expect(story(after: 110, claim(2)) == ["1 granted 2"])
        #expect(story(after: 111, claim(2, renewal: 108, [.autoRenewStatus: .integer(1)])).isEmpty)
    }
}
