import Entitlements
import Ledger
import Proofs
import TestSupport
import Testing

/// Items, subscriptions, rights, explanations, the doors, webhook messages and figures give one answer about the same purchases,
/// at many moments of generated lives.
@Suite struct OneAnswerTests {
    private static let user: Int64 = 1
    private static let day: Int64 = 86_400

    /// The answers at a moment, whatever the order in which the statements before it came.
    private static func answers(
        _ life: GeneratedLife,
        knownAt known: Timestamp,
        at moment: Timestamp,
        _ dice: Dice
    ) -> SurfaceAnswers {
        let claims = life.known(at: known)
        var decision = EntitlementFacts().decision(accepting: [.appleProduction], at: moment)
        for claim in dice.shuffle(claims) { _ = decision.redeem(claim, for: user, by: .user) }
        return SurfaceAnswers(decision.facts, by: claims, life.grants(at: moment), at: moment)
    }

    private static func report(_ contradictions: [String], _ seed: UInt64, _ moment: Timestamp) -> Bool {
        guard !contradictions.isEmpty else { return false }
        Issue.record("seed \(seed), \(moment.rfc3339): \(contradictions.joined(separator: "; "))")
        return true
    }

    @Test(arguments: 0..<20) func `every surface gives one answer`(part: UInt64) {
        for seed in part * 20..<(part + 1) * 20 {
            let dice = Dice(seed: seed)
            let life = GeneratedLife(dice)
            for moment in life.moments(dice) {
                let answers = Self.answers(life, knownAt: moment, at: moment, dice)
                if Self.report(answers.contradictions, seed, moment) { break }
            }
        }
    }

    @Test(arguments: 0..<20) func `the figures of a day count what the customer owns at its end`(part: UInt64) {
        for seed in part * 20..<(part + 1) * 20 {
            let dice = Dice(seed: seed)
            let life = GeneratedLife(dice)
            for moment in life.moments(dice) {
                let days = CalendarDay(moment).daysSince1970
                let end = Timestamp(secondsSince1970: (days + 1) * Self.day - 1)
                let answers = Self.answers(life, knownAt: moment, at: end, dice)
                if Self.report(answers.contradictionsOfFigures, seed, end) { break }
            }
        }
    }

    @Test(arguments: 0..<20) func `the last message about a purchase says if the customer owns it`(part: UInt64) {
        for seed in part * 20..<(part + 1) * 20 {
            let dice = Dice(seed: seed)
            guard let found = Self.contradictionsOfMessages(GeneratedLife(dice), dice) else { continue }
            _ = Self.report(found.contradictions, seed, found.moment)
        }
    }

    /// The first contradictions between the messages about a life and its purchases; nil without any.
    private static func contradictionsOfMessages(
        _ life: GeneratedLife,
        _ dice: Dice
    ) -> (contradictions: [String], moment: Timestamp)? {
        var follower = MessageFollower()
        var rest = life.statements.sorted { $0.arrivesAt < $1.arrivesAt }[...]
        for moment in life.moments(dice) {
            while let next = rest.first, next.arrivesAt <= moment {
                follower.record(next.claim, for: user, at: next.arrivesAt)
                rest = rest.dropFirst()
            }
            follower.recordDueStates(until: moment)
            let answers = SurfaceAnswers(follower.facts, by: life.known(at: moment), [], at: moment)
            let contradictions = answers.purchases.filter { purchase in
                let status = purchase.status
                // The end of a subscription that may renew is reported an hour later.
                let isAwaited =
                    status.state == .expired && status.until.map { $0.adding(seconds: 3600) > moment } ?? false
                return !isAwaited && follower.isOwned(purchase.original) != status.state.isOwned
            }.map { "the last message about \($0.original.identifier) contradicts \($0.status.state)" }
            let denied = answers.purchases.filter { purchase in
                follower.hasAccess(purchase.original, at: moment) != purchase.status.state.isOwned
            }.map { "RevenueCat's last event of \($0.original.identifier) contradicts \($0.status.state)" }
            let found = contradictions + denied + follower.faults
            if !found.isEmpty { return (found, moment) }
        }
        return nil
    }

    /// A period of one subscription, in days of its life.
    private static func period(
        _ number: Int,
        of product: String = "plus",
        _ days: Range<Int64>,
        signed: Int64? = nil,
        revoked: Int64? = nil
    ) -> Claim {
        func moment(_ day: Int64) -> Timestamp { GeneratedLife.start.adding(days: day) }
        return GeneratedLife.claim(
            of: product, "\(number)", original: "1", from: moment(days.lowerBound), to: moment(days.upperBound),
            signed: moment(signed ?? days.lowerBound), revoked: revoked.map(moment),
            facts: [.webOrderLineItemId: .text("event \(number)")])
    }

    /// Lives that are not generated.
    private static let rareLives: [(name: String, claims: [Claim])] = [
        (
            "a downgrade that is signed before it begins",
            [period(1, of: "gold", 0..<30), period(2, 30..<60, signed: 29)]
        ),
        (
            "a refund of a later day than its statement",
            [period(1, 0..<30), period(1, 0..<30, signed: 5, revoked: 20)]
        ),
        (
            "a refund of a permanent purchase of a later day than its statement",
            [
                GeneratedLife.claim(of: "gate", "g", original: "g", from: GeneratedLife.start),
                GeneratedLife.claim(
                    of: "gate", "g", original: "g", from: GeneratedLife.start,
                    signed: GeneratedLife.start.adding(days: 5), revoked: GeneratedLife.start.adding(days: 20)),
            ]
        ),
    ]

    @Test(arguments: rareLives.indices) func `every surface gives one answer about a rare life`(index: Int) {
        let (name, claims) = Self.rareLives[index]
        let life = GeneratedLife(claims)
        for seed in 0..<20 as Range<UInt64> {
            let dice = Dice(seed: seed)
            for moment in life.moments(dice) {
                let answers = Self.answers(life, knownAt: moment, at: moment, dice)
                #expect(answers.contradictions == [], "\(name), \(moment.rfc3339)")
                let days = CalendarDay(moment).daysSince1970
                let end = Timestamp(secondsSince1970: (days + 1) * Self.day - 1)
                let ofDay = Self.answers(life, knownAt: moment, at: end, dice)
                #expect(ofDay.contradictionsOfFigures == [], "\(name), \(end.rfc3339)")
            }
            let found = Self.contradictionsOfMessages(life, dice)
            #expect(found == nil, "\(name), \(String(describing: found))")
        }
    }

    @Test func `the lives reach every state and every message about a purchase`() {
        var states: Set<PurchaseState> = []
        var events: Set<AuditEntry.Event> = []
        for seed in 0..<100 as Range<UInt64> {
            let dice = Dice(seed: seed)
            let life = GeneratedLife(dice)
            var follower = MessageFollower()
            for statement in life.statements.sorted(by: { $0.arrivesAt < $1.arrivesAt }) {
                follower.record(statement.claim, for: Self.user, at: statement.arrivesAt)
            }
            events.formUnion(follower.log.map(\.event))
            for moment in life.moments(dice) {
                states.formUnion(
                    Self.answers(life, knownAt: moment, at: moment, dice).purchases.map(\.status.state))
            }
        }
        #expect(
            states == [
                .trial, .active, .willNotRenew, .gracePeriod, .billingRetry, .expired, .revoked, .owned, .consumed,
                .refunded, .familyShared,
            ])
        #expect(
            events.isSuperset(of: [
                .granted, .revoked, .productChanged, .expired, .renewalFailed, .gracePeriodBegan, .autoRenewDisabled,
            ]))
    }
}
