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
    }

    private static func claim(_ statement: Statement, at second: Int64, of plan: String?) -> Claim {
        var facts = RenewalFacts()
        facts[.autoRenewProductId] = statement.product.map { .text($0) }
        facts[.autoRenewBasePlanId] = statement.plan.map { .text($0) }
        facts[.autoRenewStatus] = .integer(statement.renews ? 1 : 0)
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

    @Test func `a statement that comes late tells no choice`() {
        let decision = Rules.play([
            .redeem(Self.claim(.init(), at: 20, of: nil), Rules.alice),
            .state(Self.claim(.init(product: "basic"), at: 10, of: nil)),
        ]).decision
        #expect(!decision.story.contains { $0.contains("planChosen") })
    }
}
