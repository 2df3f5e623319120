import Entitlements
import Ledger
import Proofs
import TestSupport
import Testing

/// A subscription that goes on under another original transaction, with and without account tokens.
///
/// Part 0 is the purchase "0.0" with its renewal "0.1". Part 1 states that it was part 0 before, and so on.
@Suite struct MovedSubscriptionRuleTests {
    typealias Rules = RuleFixture

    private static func claim(
        _ part: Int, _ index: Int, signed: Int64 = 0, statesMove: Bool = true, renewal: StatedRenewal? = nil
    ) -> Claim {
        let bought = Int64(part * 2 + index) * 100
        var facts = TransactionFacts()
        facts[.type] = .text(ProductType.autoRenewableSubscription.rawValue)
        facts[.signedDate] = .integer(bought + signed)
        if part > 0, statesMove { facts[.previousOriginalTransactionId] = .text("\(part - 1).0") }
        return Rules.claim(
            "\(part).\(index)", original: "\(part).0", chain: part > 0 && statesMove ? "\(part - 1).0" : nil,
            product: "p\(part)", bought: bought, signed: bought + signed, expires: bought + 100, facts: facts,
            renewal: renewal)
    }

    private static func moves(_ decision: EntitlementDecision) -> [String] {
        decision.changes.events.compactMap { event in
            guard case .audit(let entry, let user) = event, entry.event == .migrated else { return nil }
            return "\(user): \(entry.reason ?? "") to \(entry.reference.prefix { $0 != "." })"
        }.sorted()
    }

    private static let parts = [claim(0, 0), claim(0, 1), claim(1, 0), claim(1, 1), claim(2, 0)]

    @Test func `the statements go to the owner of the first part, and each move is told once`() {
        let (results, decision) = Rules.play(
            [.redeem(Self.parts[0], Rules.alice)] + Self.parts.dropFirst().map { .state($0) })
        #expect(results == Array(repeating: "granted", count: 5))
        #expect(["0.0", "1.0", "2.0"].map { decision.owner(of: $0) } == [Rules.alice, Rules.alice, Rules.alice])
        #expect(Self.moves(decision) == ["1: 0.0 to 1", "1: 1.0 to 2"])
    }

    @Test(arguments: 0..<8)
    func `any order of the statements leads to the same purchases, and tells each move once`(part: UInt64) {
        for seed in part * 50..<(part + 1) * 50 {
            let dice = Dice(seed: seed)
            // Alice presents one of the transactions, and the App Store states all, some of them twice.
            let presented = dice.number(below: Self.parts.count)
            let steps =
                [RuleFixture.Step.redeem(Self.parts[presented], Rules.alice)] + Self.parts.map { .state($0) }
                + Self.parts.filter { _ in dice.number(below: 3) == 0 }.map { .state($0) }
            let decision = Rules.play(dice.shuffle(steps), after: 1000).decision
            #expect(decision.facts.parked.isEmpty, "seed \(seed)")
            #expect(decision.facts.transactions.count == Self.parts.count, "seed \(seed)")
            #expect(Set(decision.facts.purchases.values.map(\.owner)) == [Rules.alice], "seed \(seed)")
            #expect(Self.moves(decision) == ["1: 0.0 to 1", "1: 1.0 to 2"], "seed \(seed)")
        }
    }

    @Test func `a receipt that states no move tells of it with the first statement that does`() {
        let (_, decision) = Rules.play([
            .redeem(Self.claim(1, 0, statesMove: false), Rules.alice), .state(Self.claim(1, 1, signed: 1)),
            .state(Self.claim(1, 0, signed: 2)),
        ])
        #expect(Self.moves(decision) == ["1: 0.0 to 1"])
    }

    @Test func `the end of a part is told only if the subscription does not go on`() {
        let renewal = StatedRenewal(
            statedAt: Rules.later(200), proofDigest: [UInt8](repeating: 1, count: 32),
            facts: RenewalFacts([.autoRenewStatus: .integer(0), .expirationIntent: .integer(1)]))
        let ended = Self.claim(0, 1, signed: 100, renewal: renewal)
        func story(_ steps: [RuleFixture.Step]) -> [String] {
            var decision = Rules.play(steps, after: 250).decision
            decision.recordStates { _ in .autoRenewableSubscription }
            return decision.story
        }
        let first = [RuleFixture.Step.redeem(Self.parts[0], Rules.alice), .state(Self.parts[1])]
        #expect(story(first + [.state(ended)]).contains("1 expired 0.1"))
        let moved = story(first + [.state(Self.parts[2]), .state(ended)])
        #expect(moved == ["1 granted 0.0", "1 granted 0.1", "1 granted 1.0", "1 migrated 1.0"])
    }

    @Test func `a period that ends with the move is replaced, and not revoked`() {
        let revoked = Rules.claim(
            "0.1", original: "0.0", product: "p0", bought: 100, revoked: true, signed: 200, expires: 300,
            facts: TransactionFacts([.signedDate: .integer(200)]))
        let steps: [RuleFixture.Step] = [
            .redeem(Self.parts[0], Rules.alice), .state(revoked), .state(Self.parts[2]),
        ]
        for order in [[0, 1, 2], [0, 2, 1], [2, 1, 0], [2, 0, 1]] {
            let decision = Rules.play(order.map { steps[$0] }, after: 250).decision
            #expect(decision.status(of: "0.1")?.revocationDate == nil, "\(order)")
        }
    }

    @Test func `a transfer takes all parts along`() {
        let (results, decision) = Rules.play(
            [
                .redeem(Self.parts[0], Rules.alice), .state(Self.parts[2]), .redeem(Self.parts[2], Rules.bob),
            ], under: .transfer(pauseSeconds: 0), after: 250)
        #expect(results == ["granted", "granted", "granted"])
        #expect(["0.0", "1.0"].map { decision.owner(of: $0) } == [Rules.bob, Rules.bob])
        // The former part has ended, and the present one has not.
        let kept = Rules.play(
            [.redeem(Self.parts[0], Rules.alice), .state(Self.parts[2]), .redeem(Self.parts[0], Rules.bob)],
            under: .transferIfInactive(pauseSeconds: 0), after: 250)
        #expect(kept.results.last == "ownedByAnotherUser")
    }
}
