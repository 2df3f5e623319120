import Catalog
import Foundation
import Proofs
import TestSupport
import Testing

/// The rules about refunds in a catalog's folder.
@Suite struct RefundRulesTests {
    /// A catalog of the garden with rules.
    private static func catalog(_ rules: String) throws -> Catalog { try TestGarden(refundRules: rules).catalog }

    /// Rules with the conditions of one, which declines.
    private static func rules(_ conditions: String) throws -> RefundRules {
        let separator = conditions.isEmpty ? "" : ","
        return try #require(
            try catalog(#"{"rules": [{"name": "a", "answer": "DECLINE"\#(separator) \#(conditions)}]}"#).refundRules)
    }

    static let facts = RefundFacts(
        product: "garden.seeds", type: .consumable, reason: "UNINTENDED_PURCHASE", consumed: 60_000, age: 26 * 3600,
        refunds: 2)

    /// The conditions of a rule, and true if they hold.
    static let conditions: [(String, Bool)] = [
        ("", true),
        (#""products": ["garden.gate", "garden.seeds"]"#, true), (#""products": ["garden.gate"]"#, false),
        (#""products": []"#, false),
        (#""types": ["Consumable"]"#, true), (#""types": ["Auto-Renewable Subscription"]"#, false),
        (#""reasons": ["UNINTENDED_PURCHASE", "LEGAL"]"#, true), (#""reasons": ["OTHER"]"#, false),
        (#""isDelivered": true"#, true), (#""isDelivered": false"#, false),
        (#""consumedPercent": {"atLeast": 60}"#, true), (#""consumedPercent": {"atLeast": 61}"#, false),
        (#""consumedPercent": {"atMost": 60}"#, true), (#""consumedPercent": {"atMost": 59}"#, false),
        (#""consumedPercent": {"atLeast": 50, "atMost": 70}"#, true),
        (#""ageHours": {"atLeast": 26}"#, true), (#""ageHours": {"atLeast": 27}"#, false),
        (#""ageHours": {"atMost": 26}"#, true), (#""ageHours": {"atMost": 25}"#, false),
        (#""refunds": {"atLeast": 2}"#, true), (#""refunds": {"atMost": 1}"#, false),
        (#""products": ["garden.seeds"], "refunds": {"atLeast": 3}"#, false),
    ]

    @Test(arguments: conditions) func `a rule matches if all its conditions hold`(_ text: String, _ holds: Bool) throws
    {
        let answer = try Self.rules(text).answer(to: Self.facts, otherwise: .grantFull)
        #expect(answer.preference == (holds ? .decline : .grantFull))
        #expect(answer.rule == (holds ? "a" : nil))
    }

    @Test(
        arguments: [
            #""products": ["garden.seeds"]"#, #""types": ["Consumable"]"#, #""reasons": ["OTHER"]"#,
            #""consumedPercent": {"atMost": 100}"#, #""ageHours": {"atMost": 1000000}"#,
            #""refunds": {"atMost": 1000000}"#,
        ])
    func `a condition about an unknown fact does not hold`(_ text: String) throws {
        let answer = try Self.rules(text).answer(to: RefundFacts(), otherwise: nil)
        #expect(answer.rule == nil && answer.preference == nil && answer.percentage == nil)
    }

    @Test func `the first matching rule decides`() throws {
        let rules = try #require(
            try Self.catalog(
                """
                {"dryRun": true, "rules": [
                  {"name": "often", "refunds": {"atLeast": 3}, "answer": "DECLINE"},
                  {"name": "unused", "consumedPercent": {"atMost": 0}, "answer": "GRANT_FULL"},
                  {"name": "no opinion", "types": ["Non-Consumable"], "answer": "NONE"},
                  {"name": "rest", "answer": "GRANT_PRORATED"}
                ]}
                """
            ).refundRules)
        func answer(_ facts: RefundFacts) -> String { rules.answer(to: facts, otherwise: .decline).text }
        #expect(answer(RefundFacts(consumed: 0, refunds: 4)) == #"DECLINE by rule "often""#)
        #expect(answer(RefundFacts(consumed: 0, refunds: 2)) == #"GRANT_FULL by rule "unused""#)
        #expect(answer(RefundFacts(type: .nonConsumable)) == #"no preference by rule "no opinion""#)
        #expect(answer(RefundFacts(consumed: 1)) == #"GRANT_PRORATED by rule "rest""#)
        #expect(rules.isDryRun)
        #expect(try !Self.rules("").isDryRun)
        #expect(try TestGarden().catalog.refundRules == nil)
    }

    /// The answer of the rules, and the preference that Google Play is told.
    @Test(
        arguments: [
            ("GRANT_FULL", .approve), ("DECLINE", .decline), ("GRANT_PRORATED", .neutral), ("NONE", .neutral),
        ] as [(String, GoogleRefundPreference)])
    func `Google Play refunds the whole of an order or nothing`(
        _ answer: String, _ preference: GoogleRefundPreference
    ) throws {
        let rule = #"{"name": "a", "reasons": ["CHARGEBACK"], "answer": "\#(answer)"}"#
        let rules = try #require(try Self.catalog(#"{"rules": [\#(rule)]}"#).refundRules)
        let facts = RefundFacts(type: .consumable, reason: RefundFacts.chargeback, consumed: 60_000)
        let decided = rules.answer(to: facts, otherwise: .decline)
        #expect(decided.googlePreference == preference)
        #expect(decided.googleText == #"\#(preference.rawValue) by rule "a""#)
        // A question of the App Store has none of these reasons.
        #expect(rules.answer(to: RefundFacts(reason: "OTHER"), otherwise: nil).rule == nil)
    }

    /// The facts, the preference that the App Store accepts in place of `GRANT_PRORATED`, and the share that it is told.
    static let prorated: [(RefundFacts, RefundPreference?, Int?)] = [
        (RefundFacts(type: .consumable, consumed: 60_000), .grantProrated, 60_000),
        (RefundFacts(type: .consumable, consumed: 0), .grantFull, 0),
        (RefundFacts(type: .consumable, consumed: 100_000), .decline, 100_000),
        (RefundFacts(type: .nonConsumable), nil, nil),
        (RefundFacts(type: .consumable, isDelivered: false), .grantFull, nil),
        (RefundFacts(type: .autoRenewableSubscription, consumed: 60_000), .grantProrated, nil),
    ]

    @Test(arguments: prorated) func `a prorated refund needs a share`(
        _ facts: RefundFacts, _ preference: RefundPreference?, _ percentage: Int?
    ) throws {
        let rules = try #require(try Self.catalog(#"{"rules": []}"#).refundRules)
        let answer = rules.answer(to: facts, otherwise: .grantProrated)
        #expect(answer.preference == preference && answer.percentage == percentage && answer.rule == nil)
    }

    /// Of 10 seeds, with those that were added before and the spent ones.
    @Test(arguments: [
        (0, 0, 0), (0, 6, 60_000), (0, 10, 100_000), (0, 99, 100_000), (5, 5, 0), (5, 6, 10_000), (5, 3, 0),
    ])
    func `the oldest amounts are spent first`(_ earlier: Int, _ spent: Int, _ share: Int) {
        #expect(RefundFacts.consumed(of: 10, addedAfter: earlier, spent: spent) == share)
    }

    @Test(arguments: [(0, 0), (-5, 0), (25, 25_000), (99, 99_000), (100, 100_000), (101, 100_000)] as [(Int64, Int)])
    func `a period is consumed by time`(_ seconds: Int64, _ share: Int) {
        let start = Timestamp(secondsSince1970: 1_790_000_000)
        #expect(
            RefundFacts.consumed(
                from: start, until: start.adding(seconds: 100), at: start.adding(seconds: seconds)) == share)
    }

    @Test(
        arguments: [
            (#"{}"#, "rules", "the key is missing"),
            (#"{"rules": [{"name": "a"}]}"#, "rules[0].answer", "the key is missing"),
            (
                #"{"rules": [{"name": "a", "answer": "REFUSE"}]}"#, "rules[0].answer",
                "it is \"REFUSE\"; choose one of DECLINE, GRANT_FULL, GRANT_PRORATED, NONE"
            ),
            (
                #"{"rules": [{"name": "a", "answer": "NONE"}, {"name": "a", "answer": "NONE"}]}"#, "rules[1]",
                "a is there twice"
            ),
            (
                #"{"rules": [{"name": "a", "answer": "NONE", "product": []}]}"#, "rules[0].product",
                "the key is unknown; the nearest known one is \"products\""
            ),
            (
                #"{"rules": [{"name": "a", "answer": "NONE", "products": ["garden.weeds"]}]}"#, "rules[0].products[0]",
                "the catalog has no product garden.weeds; the nearest known one is \"garden.seeds\""
            ),
            (
                #"{"rules": [{"name": "a", "answer": "NONE", "refunds": {}}]}"#, "rules[0].refunds",
                "it needs `atLeast`, `atMost` or both"
            ),
            (
                #"{"rules": [{"name": "a", "answer": "NONE", "refunds": {"atLeast": 3, "atMost": 2}}]}"#,
                "rules[0].refunds", "`atLeast` is at most `atMost`, and both are at most 1000000"
            ),
            (
                #"{"rules": [{"name": "a", "answer": "NONE", "consumedPercent": {"atMost": 101}}]}"#,
                "rules[0].consumedPercent", "`atLeast` is at most `atMost`, and both are at most 100"
            ),
        ] as [(String, String, String)])
    func `an error names the key and the reason`(_ text: String, _ key: String, _ reason: String) throws {
        do {
            _ = try Self.catalog(text)
            Issue.record("The rules were accepted.")
        } catch let error as CatalogError {
            #expect(error.key == key && error.reason == reason)
            #expect(error.file.hasSuffix("/\(Catalog.refundRulesFile)"))
        }
    }
}
