import Entitlements
import Ledger
import Proofs
import Testing
import Vocabulary

/// Facts that cannot be: the decision over them is refused, and says what does not hold.
@Suite struct DecisionInvariantTests {
    private typealias Rules = RuleFixture

    private static let (bought, refunded) = (
        Rules.claim("1", expires: 100), Rules.claim("1", revoked: true, signed: 10, expires: 100)
    )

    /// The facts after a purchase, before it has a row.
    private static func facts(_ claim: Claim = bought) -> EntitlementFacts {
        Rules.play([.redeem(claim, Rules.alice)]).decision.facts
    }

    private static func breach(
        _ facts: EntitlementFacts, _ change: (inout EntitlementDecision) -> Void
    ) -> String? {
        var decision = Rules.decision(after: 20, knowing: facts)
        let before = decision.facts
        change(&decision)
        do {
            try decision.check(after: before)
            return nil
        } catch { return error.rule }
    }

    @Test func `a decision over whole facts holds`() {
        #expect(Self.breach(EntitlementFacts()) { _ = $0.redeem(Self.bought, for: Rules.alice, by: .user) } == nil)
        let lost = Self.breach(EntitlementFacts()) {
            _ = $0.state(Self.bought)
            _ = $0.redeem(Self.refunded, for: Rules.bob, by: .user)
        }
        #expect(lost == nil)
    }

    @Test func `a transaction has its purchase`() {
        var facts = EntitlementFacts()
        facts.set(EntitlementFacts.Transaction(Self.bought, TransactionStatus(Self.bought)), for: Self.bought.key)
        let rule = Self.breach(facts) { _ = $0.redeem(Self.refunded, for: Rules.alice, by: .user) }
        #expect(rule == "a transaction has its purchase")
    }

    @Test func `an owner is a user`() {
        let rule = Self.breach(EntitlementFacts()) { _ = $0.redeem(Self.bought, for: -1, by: .user) }
        #expect(rule == "an owner is a user")
    }

    @Test func `a redeemed transaction has its row`() {
        // Only a transaction that was read has the number of its row.
        let rule = Self.breach(Self.facts()) { _ = $0.state(Self.refunded) }
        #expect(rule == "a redeemed transaction has its row")
    }

    @Test func `what the team moves is known`() throws {
        var decision = Rules.decision()
        let before = decision.facts
        try decision.move(Self.bought.key, to: Rules.bob, reason: "r", by: .till)
        #expect(throws: BrokenInvariant("a moved purchase is known", "1")) { try decision.check(after: before) }
    }

    @Test func `a fixed period has its item and its owner`() throws {
        let season = Rules.claim("1", period: SubscriptionPeriod("P1M"))
        var facts = Self.facts(season)
        var transaction = try #require(facts.transactions[season.key])
        transaction.fixed = FixedPeriod(try #require(SubscriptionPeriod("P1M")), of: nil)
        facts.set(transaction, for: season.key)
        let rule = Self.breach(facts) { $0.extendFixedPeriods() }
        #expect(rule == "a fixed period has its item and its owner")
    }
}
