import Entitlements
import Foundation
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Purchases for a fixed period, such as season passes: each adds its whole time to those that run.
@Suite struct FixedPeriodRuleTests {
    typealias Rules = RuleFixture

    private static func date(_ text: String) throws -> Timestamp {
        try #require(Timestamp(rfc3339: "\(text)T12:00:00Z"))
    }

    private static func key(_ identifier: String) -> TransactionKey {
        TransactionKey(app: "com.example.app", origin: .localSandbox, identifier: identifier)
    }

    /// The purchases of one customer, as `DATE PERIOD`, with `x` for one that was taken back, and the end of each.
    @Test(arguments: [
        (["2026-10-29 P3M"], ["2027-01-29"]),
        (["2026-10-29 P3M", "2026-11-28 P3M"], ["2027-01-29", "2027-04-29"]),
        (["2026-10-29 P3M", "2027-01-29 P3M"], ["2027-01-29", "2027-04-29"]),
        (["2026-10-29 P3M", "2027-03-01 P3M"], ["2027-01-29", "2027-06-01"]),
        (["2026-10-29 P3M", "2026-10-29 P3M", "2026-10-29 P3M"], ["2027-01-29", "2027-04-29", "2027-07-29"]),
        // A refund moves what was bought later back.
        (["2026-10-29 P3M x", "2026-11-28 P3M"], ["2027-01-29", "2027-02-28"]),
        (["2026-10-29 P3M", "2026-11-28 P3M x", "2026-12-01 P3M"], ["2027-01-29", "2027-04-29", "2027-04-29"]),
        // Months count from the first purchase, so the 31st does not become the 28th.
        (["2027-01-31 P1M", "2027-02-01 P1M"], ["2027-02-28", "2027-03-31"]),
        (["2027-01-31 P1W", "2027-02-01 P1M"], ["2027-02-07", "2027-03-07"]),
        (["2027-01-01 P30D", "2027-01-02 P1Y"], ["2027-01-31", "2028-01-31"]),
    ])
    func `a period begins where the one before it ends`(purchases: [String], expected: [String]) throws {
        let charges = try purchases.enumerated().map { number, text in
            let words = text.split(separator: " ").map(String.init)
            return FixedPeriod.Charge(
                Self.key("\(number)"), at: try Self.date(words[0]), try #require(SubscriptionPeriod(words[1])),
                isRevoked: words.count > 2)
        }
        let ends = FixedPeriod.ends(of: charges.reversed())
        #expect(try purchases.indices.map { ends[Self.key("\($0)")] } == expected.map { try Self.date($0) })
    }

    @Test(arguments: [
        ("P3M", 1, "P3M"), ("P3M", 2, "P6M"), ("P1W", 10, "P10W"), ("P999D", 10, "P9990D"), ("P1Y", .max, "P999Y"),
    ])
    func `each unit adds its time`(period: String, quantity: Int, whole: String) throws {
        let bought = try #require(SubscriptionPeriod(period)).bought(quantity)
        #expect(bought.description == whole)
        #expect(SubscriptionPeriod.ofUnits(whole) == bought)
    }

    // MARK: Properties

    private static let periods = ["P1W", "P1M", "P3M", "P1Y", "P30D"].compactMap(SubscriptionPeriod.init)

    private struct Pass {
        let identifier: String
        let bought: Int64
        let period: SubscriptionPeriod
        let isRefunded: Bool

        func claim(revoked: Bool) -> Claim {
            let date = Rules.later(bought)
            return Rules.claim(
                identifier, bought: bought, revoked: revoked, signed: bought + (revoked ? 1 : 0),
                expires: date.adding(period, dayOfMonth: date.dayOfMonth).secondsSince1970
                    - Rules.now.secondsSince1970, period: period)
        }

        /// The statements about the purchase.
        var steps: [RuleFixture.Step] {
            [.redeem(claim(revoked: false), Rules.alice)] + (isRefunded ? [.state(claim(revoked: true))] : [])
        }
    }

    private static func ends(after steps: [RuleFixture.Step]) -> [String: Timestamp?] {
        var decision = Rules.play(steps, after: 1000).decision
        decision.extendFixedPeriods()
        return Dictionary(
            uniqueKeysWithValues: decision.facts.transactions.map { ($0.key.identifier, $0.value.expiresAt) })
    }

    @Test(arguments: 0..<20)
    func `any order and repetition of the statements gives the same ends`(part: UInt64) throws {
        for seed in part * 20..<(part + 1) * 20 {
            let dice = Dice(seed: seed)
            let passes = (0..<(1 + dice.number(below: 5))).map { number in
                Pass(
                    identifier: "\(number)", bought: Int64(dice.number(below: 200)) * 86_400,
                    period: Self.periods[dice.number(below: Self.periods.count)], isRefunded: dice.happens(30))
            }
            let steps = passes.flatMap(\.steps)
            let expected = Self.ends(after: steps)
            for _ in 0..<4 {
                let again = steps.indices.filter { _ in dice.happens(30) }
                let order = dice.shuffle(steps.indices + again)
                #expect(Self.ends(after: order.map { steps[$0] }) == expected, "seed \(seed), order \(order)")
            }
            // One group decides as several: the ends so far do not change those that follow.
            var decision = Rules.decision(after: 1000)
            for step in dice.shuffle(steps) {
                switch step {
                case .redeem(let claim, let user): _ = decision.redeem(claim, for: user, by: .user)
                case .state(let claim): _ = decision.state(claim)
                }
                decision.extendFixedPeriods()
            }
            #expect(decision.facts.transactions.allSatisfy { expected[$0.key.identifier] == $0.value.expiresAt })
        }
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `without a gap, the time is that of all purchases which were not taken back`(seed: UInt64) throws {
        let dice = Dice(seed: seed)
        var bought: Int64 = 0
        var days: Int64 = 0
        var end: Timestamp?
        var charges: [FixedPeriod.Charge] = []
        for number in 0..<(1 + dice.number(below: 8)) {
            let value = 1 + dice.number(below: 60)
            let period = try #require(SubscriptionPeriod("P\(value)D"))
            // The first one is never taken back, and the next ones are bought while it runs.
            let isRevoked = number > 0 && dice.happens(30)
            charges.append(.init(Self.key("\(number)"), at: Rules.later(bought), period, isRevoked: isRevoked))
            if !isRevoked { days += Int64(value) }
            bought += Int64(dice.number(below: 3600))
        }
        let ends = FixedPeriod.ends(of: charges)
        for charge in charges where !charge.isRevoked {
            let own = try #require(ends[charge.key])
            end = end.map { max($0, own) } ?? own
        }
        #expect(end == Rules.now.adding(days: days))
    }

    // MARK: Stacks

    @Test func `only purchases of one customer for one item extend one another, and tests no paid ones`() {
        let day: Int64 = 86_400
        let month = SubscriptionPeriod.oneMonth
        func claim(_ identifier: String, item: Item = Rules.sprout) -> Claim {
            Rules.claim(identifier, item: item, expires: 30 * day, period: month)
        }
        var decision = Rules.decision(after: 10)
        _ = decision.redeem(claim("1"), for: Rules.alice, by: .user)
        _ = decision.redeem(claim("2"), for: Rules.bob, by: .user)
        _ = decision.redeem(claim("3", item: Item(collection: "sprout", number: 2)), for: Rules.alice, by: .user)
        _ = decision.redeem(Rules.claim("4", expires: 40 * day), for: Rules.alice, by: .user)
        decision.extendFixedPeriods()
        let end = Rules.now.adding(month, dayOfMonth: Rules.now.dayOfMonth)
        for identifier in ["1", "2", "3"] {
            #expect(decision.facts.transactions[Self.key(identifier)]?.expiresAt == end)
        }
        #expect(decision.facts.transactions[Self.key("4")]?.expiresAt == Rules.later(40 * day))
        _ = decision.redeem(claim("5"), for: Rules.alice, by: .user)
        decision.extendFixedPeriods()
        #expect(
            decision.facts.transactions[Self.key("5")]?.expiresAt
                == end.adding(month, dayOfMonth: Rules.now.dayOfMonth))
    }
}
