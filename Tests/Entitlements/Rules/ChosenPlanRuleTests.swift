import Entitlements
import Ledger
import Proofs
import Testing

/// The choice of another plan for the next renewal, as the statements about the renewal tell it.
@Suite struct ChosenPlanRuleTests {
    private typealias Rules = RuleFixture

    /// A statement about the renewal of a period of 1000 seconds.
    private struct Statement {
        var product: String? = "plus"
        var plan: String?
        var renews = true
        var transaction = "1"
        /// Second of the statement; nil for ten after the one before.
        var second: Int64?
        /// Second of the renewal; nil if it is not stated.
        var renewal: Int64?
    }

    private static func claim(_ statement: Statement, at second: Int64, of plan: String?) -> Claim {
        var facts = RenewalFacts()
        facts[.autoRenewProductId] = statement.product.map { .text($0) }
        facts[.autoRenewBasePlanId] = statement.plan.map { .text($0) }
        facts[.autoRenewStatus] = .integer(statement.renews ? 1 : 0)
        facts[.renewalDate] = statement.renewal.map { .integer(Rules.later($0).millisecondsSince1970) }
        let number = (Int64(statement.transaction) ?? 1) - 1
        return Rules.claim(
            statement.transaction, original: "1", product: number == 0 ? "plus" : "basic", bought: number * 1000,
            signed: second, expires: 1000 + number * 1000,
            facts: TransactionFacts(plan.map { [.basePlanId: .text($0)] } ?? [:]),
            renewal: StatedRenewal(
                statedAt: Rules.later(second), proofDigest: [UInt8](repeating: 7, count: 32), facts: facts))
    }

    private static let cases: [(name: String, plan: String?, statements: [Statement], told: [String?])] = [
        ("the present product", nil, [.init(), .init()], []),
        ("another product", nil, [.init(), .init(product: "basic"), .init(product: "basic")], ["basic"]),
        ("a choice with the first statement", nil, [.init(product: "basic")], ["basic"]),
        ("a second choice", nil, [.init(product: "basic"), .init(product: "gold")], ["basic", "gold"]),
        ("a choice that is taken back", nil, [.init(product: "basic"), .init()], ["basic", nil]),
        ("another base plan", "monthly", [.init(plan: "monthly"), .init(plan: "yearly")], ["plus:yearly"]),
        ("a plan that is not stated", "monthly", [.init(plan: "monthly"), .init()], []),
        ("no product", nil, [.init(product: nil)], []),
        (
            "renewal that is turned off", nil,
            [.init(product: "basic"), .init(product: "basic", renews: false), .init(product: "basic")], ["basic"]
        ),
        ("renewal off with the choice", nil, [.init(product: "basic", renews: false)], []),
        (
            "the renewal with the chosen product", nil,
            [.init(product: "basic"), .init(product: "basic", transaction: "2")], ["basic"]
        ),
        ("a replacement at once", nil, [.init(second: 990), .init(product: "basic", transaction: "2")], []),
    ]

    @Test(arguments: cases.indices) func `each choice is told once`(index: Int) {
        let (name, plan, statements, told) = Self.cases[index]
        let steps = statements.enumerated().map { number, statement in
            let second = statement.second ?? Int64(number + 1) * 10 + (statement.transaction == "1" ? 0 : 1000)
            return Rules.Step.redeem(Self.claim(statement, at: second, of: plan), Rules.alice)
        }
        let decision = Rules.play(steps, after: 1500).decision
        let entries = decision.changes.events.compactMap { event -> AuditEntry? in
            if case .audit(let entry, _) = event, entry.event == .planChosen { entry } else { nil }
        }
        #expect(entries.map(\.reason) == told, "\(name)")
        #expect(entries.allSatisfy { $0.reference == "1" && $0.subject == "plus" }, "\(name)")
    }

    @Test func `a replacement that is known before its statement takes no choice back`() {
        // The app presents the upgrade before the notification about it arrives. The renewal of the replaced plan was just stated.
        let upgrade = Rules.claim("2", original: "1", product: "basic", bought: 1000, signed: 1000, expires: 2000)
        let decision = Rules.play(
            [
                .redeem(Self.claim(.init(), at: 990, of: nil), Rules.alice), .redeem(upgrade, Rules.alice),
                .state(Self.claim(.init(product: "basic", transaction: "2"), at: 1001, of: nil)),
            ], after: 1500
        ).decision
        #expect(!decision.story.contains { $0.contains("planChosen") })
    }

    @Test func `a choice that is stated before its period begins is taken back in it`() {
        // The App Store renews within a day before the period begins, and states the new renewal date with it.
        func statement(_ product: String, at second: Int64) -> Rules.Step {
            .state(Self.claim(.init(product: product, transaction: "2", renewal: 2000), at: second, of: nil))
        }
        let decision = Rules.play(
            [
                .redeem(Self.claim(.init(product: "basic"), at: 10, of: nil), Rules.alice),
                statement("plus", at: 900), statement("plus", at: 950), statement("basic", at: 1100),
            ], after: 1500
        ).decision
        let told = decision.changes.events.compactMap { event -> String? in
            guard case .audit(let entry, _) = event, entry.event == .planChosen else { return nil }
            return entry.reason ?? "none"
        }
        #expect(told == ["basic", "plus", "none"])
    }

    @Test func `a statement that comes late tells no choice`() {
        let decision = Rules.play([
            .redeem(Self.claim(.init(), at: 20, of: nil), Rules.alice),
            .state(Self.claim(.init(product: "basic"), at: 10, of: nil)),
        ]).decision
        #expect(!decision.story.contains { $0.contains("planChosen") })
    }
}
