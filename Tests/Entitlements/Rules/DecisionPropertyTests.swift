import Entitlements
import Foundation
import Proofs
import TestSupport
import Testing
import Vocabulary

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The same statements lead to the same entitlements, in any order and with any repetition.
@Suite struct DecisionPropertyTests {
    typealias Rules = RuleFixture

    /// A purchase with its statements: of a consumable, of a restored product, or of a subscription.
    private static func purchase(
        _ number: Int, _ dice: Dice, from origin: Origin = .localSandbox
    ) -> [RuleFixture.Step] {
        // Two apps use the same identifiers.
        let (name, app) = (number / 2, ["com.example.garden", "com.example.orchard"][number % 2])
        let owner = [Rules.alice, Rules.bob, Rules.carol][number % 3]
        let hasToken = dice.number(below: 2) == 0
        let kind = dice.number(below: 3)
        let transactions = kind == 0 ? 1 : 1 + dice.number(below: 3)
        var steps: [RuleFixture.Step] = []
        for index in 0..<transactions {
            let bought = Int64(index * 100)
            for statement in 0..<(1 + dice.number(below: 3)) {
                let grace: Claim.Grace? =
                    kind == 2 && dice.number(below: 3) == 0
                    ? .until(
                        dice.number(below: 4) == 0 ? nil : Rules.later(bought + 100 + Int64(dice.number(below: 9))))
                    : nil
                let signed = bought + Int64(dice.number(below: 4))
                let claim = Rules.claim(
                    "\(name).\(index)", original: "\(name).0", app: app, origin: origin, bought: bought,
                    revoked: dice.number(below: 4) == 0, repeatsOriginal: kind == 1,
                    signed: signed, of: hasToken ? owner : nil,
                    item: kind == 0 ? nil : Rules.sprout, credit: kind == 0 ? Credit(balance: "coins", amount: 1) : nil,
                    expires: kind == 2 ? bought + 100 : nil, grace: grace, facts: facts(signed - bought, dice),
                    renewal: grace.map { _ in renewal(signed, dice) })
                // The owner presents each transaction at least once.
                steps.append(statement == 0 || dice.number(below: 3) == 0 ? .redeem(claim, owner) : .state(claim))
            }
        }
        return steps
    }

    /// The facts of a signed transaction or an app receipt. Some statements have only some facts.
    private static func facts(_ signed: Int64, _ dice: Dice) -> TransactionFacts {
        var facts = TransactionFacts()
        if dice.number(below: 2) == 0 { facts[.storefront] = .text("KOR") }
        guard dice.number(below: 3) > 0 else {
            facts[.isTrialPeriod] = .integer(Int64(dice.number(below: 2)))
            if dice.number(below: 2) == 0 { facts[.expiresDate] = .integer(Int64(dice.number(below: 9))) }
            return facts
        }
        facts[.signedDate] = .integer(signed)
        facts[.price] = .integer(1_200_000 + Int64(dice.number(below: 2)))
        if signed >= 2 { facts[.isUpgraded] = .integer(1) }
        if dice.number(below: 2) == 0 { facts[.expiresDate] = .integer(Int64(dice.number(below: 9))) }
        if dice.number(below: 3) == 0 { facts[.revocationType] = .text("REFUND_FULL") }
        return facts
    }

    private static func renewal(_ signed: Int64, _ dice: Dice) -> StatedRenewal {
        let status = UInt8(dice.number(below: 2))
        return StatedRenewal(
            statedAt: Rules.later(signed), proofDigest: [UInt8](repeating: status, count: 32),
            facts: RenewalFacts([.autoRenewStatus: .integer(Int64(status))]))
    }

    /// The state after all statements.
    private struct State: Equatable {
        let purchases: [TransactionKey: Int64]
        let transactions: [TransactionKey: EntitlementFacts.Transaction]
        let parked: Int
        let renewals: [TransactionKey: StatedRenewal?]

        init(_ facts: EntitlementFacts) {
            purchases = facts.purchases.mapValues(\.owner)
            transactions = facts.transactions
            parked = facts.parked.count
            renewals = facts.purchases.mapValues(\.renewal)
        }
    }

    private static func state(after steps: [RuleFixture.Step]) -> State {
        State(Rules.play(steps, after: 1000).decision.facts)
    }

    /// An order that leads to another state, without the irrelevant steps.
    private static func shrink(_ steps: [RuleFixture.Step], _ order: [Int]) -> [Int] {
        func differs(_ order: [Int]) -> Bool {
            // The reference is each step once, in order.
            state(after: Set(order).sorted().map { steps[$0] }) != state(after: order.map { steps[$0] })
        }
        var order = order
        while let smaller = order.indices.lazy.map({ index in
            order.enumerated().filter { $0.offset != index }.map(\.element)
        })
        .first(where: differs) {
            order = smaller
        }
        return order
    }

    /// Plays a story of some purchases in its order and in six others, with repetitions.
    ///
    /// - Returns: The orders that lead to another state, shrunk; nil if there is none.
    private static func defect(_ seed: UInt64, from origin: Origin = .localSandbox) -> String? {
        let dice = Dice(seed: seed)
        let steps = (0..<(1 + dice.number(below: 4))).flatMap { purchase($0, dice, from: origin) }
        let expected = state(after: steps)
        guard expected.parked == 0 else { return "seed \(seed): a statement stays parked" }
        for _ in 0..<6 {
            let again = steps.indices.filter { _ in dice.number(below: 3) == 0 }
            let order = dice.shuffle(steps.indices + again)
            guard state(after: order.map { steps[$0] }) == expected else {
                let words = shrink(steps, order).map { "\($0): \(steps[$0])" }.joined(separator: "\n")
                return "seed \(seed), in this order:\n\(words)"
            }
        }
        return nil
    }

    @Test(arguments: 0..<40)
    func `any order and multiplicity of the same statements leads to the same state`(part: UInt64) {
        for seed in part * 50..<(part + 1) * 50 {
            if let defect = Self.defect(seed) { Issue.record("\(defect)") }
        }
    }

    @Test func `the same holds at a store that the sources have no line of`() throws {
        let origin = try #require(Origin(rawValue: "acme/Production"))
        for seed: UInt64 in 0..<200 {
            if let defect = Self.defect(seed, from: origin) { Issue.record("\(defect)") }
        }
    }

    private static let seeds = ProcessInfo.processInfo.environment["TILL_DECISION_SEEDS"].flatMap(UInt64.init) ?? 0

    @Test(.enabled(if: seeds > 0, "make simulate-decisions SEEDS=N"))
    func `the same holds for each of many seeds`() async {
        let workers = UInt64(ProcessInfo.processInfo.activeProcessorCount)
        let first = UInt64.random(in: 0..<1_000_000_000)
        let defects = await withTaskGroup(of: [String].self) { group in
            for worker in 0..<workers {
                group.addTask {
                    stride(from: first + worker, to: first + Self.seeds, by: Int(workers)).compactMap {
                        Self.defect($0)
                    }
                }
            }
            return await group.reduce([], +)
        }
        print("Decided \(Self.seeds) seeds, from \(first) on.")
        for defect in defects.prefix(3) { Issue.record("\(defect)") }
    }

    /// The best of twenty parts, in processor time of this thread and without the generation, because other tests share the
    /// core's caches. A fast machine makes more than 300,000, a slow one between 120,000 and 240,000.
    @Test func `at least 80,000 decisions are made a second, on a slow machine, too`() {
        let dice = Dice(seed: 7)
        var (owned, best) = (0, 0.0)
        for _ in 0..<20 {
            let stories = (0..<200).map { _ in (0..<4).flatMap { Self.purchase($0, dice) } }
            let count = stories.reduce(0) { $0 + $1.count }
            let started = Self.processorSeconds()
            for story in stories { owned += Rules.play(story, after: 1000).decision.facts.transactions.count }
            best = max(best, Double(count) / (Self.processorSeconds() - started))
        }
        #expect(owned > 0)
        #expect(best > 80_000)
        print("Decisions a second: \(Int(best))")
    }

    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
