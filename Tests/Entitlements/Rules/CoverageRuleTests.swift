import Entitlements
import Proofs
import Testing

/// The rules of coverage.
@Suite struct CoverageRuleTests {
    private typealias Rules = RuleFixture

    private struct Case {
        let name: String
        let steps: [Rules.Step]
        let revokedByTeam: Bool
        /// The start, the end and "revoked" of each transaction, in seconds after the start of the story.
        let expected: [String: String]

        init(_ name: String, _ steps: [Rules.Step], revokedByTeam: Bool = false, _ expected: [String: String]) {
            (self.name, self.steps, self.revokedByTeam, self.expected) = (name, steps, revokedByTeam, expected)
        }
    }

    private static func redeem(_ claim: Claim) -> Rules.Step { .redeem(claim, Rules.alice) }

    private static func period(
        _ transaction: String,
        product: String = "p",
        bought: Int64,
        expires: Int64,
        grace: Int64? = nil,
        revoked: Bool = false,
        signed: Int64? = nil,
        isAdditional: Bool = false,
        isStatedSigned: Bool = false
    ) -> Claim {
        var facts = TransactionFacts()
        if isAdditional { facts[.additionalTransactionReason] = .text("SEAT_ADDITION") }
        if isStatedSigned { facts[.signedDate] = .integer(Rules.later(signed ?? bought).millisecondsSince1970) }
        return Rules.claim(
            transaction, original: "1", product: product, bought: bought, revoked: revoked, signed: signed ?? bought,
            expires: expires, grace: grace.map { .until(Rules.later($0)) }, facts: facts.isEmpty ? nil : facts)
    }

    private static let cases: [Case] = [
        Case("a purchase lasts", [redeem(Rules.claim())], ["1": "- -"]),
        Case("a refunded purchase does not", [redeem(Rules.claim(revoked: true))], ["1": "- - revoked"]),
        Case(
            "nor does one that the team has revoked", [redeem(Rules.claim())], revokedByTeam: true,
            ["1": "- - revoked"]),
        Case("a period ends", [redeem(period("1", bought: 0, expires: 1000))], ["1": "-60 1000"]),
        Case("a grace period goes on", [redeem(period("1", bought: 0, expires: 1000, grace: 1500))], ["1": "-60 1500"]),
        Case(
            "a grace period that ends before does not", [redeem(period("1", bought: 0, expires: 1000, grace: 900))],
            ["1": "-60 1000"]),
        Case(
            "the next period takes its place",
            [
                redeem(period("1", bought: 0, expires: 1000, grace: 1500)),
                redeem(period("2", bought: 1000, expires: 2000)),
            ],
            ["1": "-60 940", "2": "940 2000"]),
        Case(
            "the same if it is redeemed first",
            [redeem(period("2", bought: 1000, expires: 2000)), redeem(period("1", bought: 0, expires: 1000))],
            ["1": "-60 940", "2": "940 2000"]),
        Case(
            "an upgrade takes the place of a period before its end",
            [redeem(period("1", bought: 0, expires: 1000)), redeem(period("2", bought: 500, expires: 1500))],
            ["1": "-60 440", "2": "440 1500"]),
        Case(
            "a refunded period still takes the place",
            [
                redeem(period("1", bought: 0, expires: 1000)),
                redeem(period("2", bought: 500, expires: 1500, revoked: true)),
            ],
            ["1": "-60 440", "2": "440 1500 revoked"]),
        Case(
            "two of one moment do not",
            [redeem(period("1", bought: 0, expires: 1000)), redeem(period("2", bought: 0, expires: 2000))],
            ["1": "-60 1000", "2": "-60 2000"]),
        Case(
            "a lapse is not covered",
            [redeem(period("1", bought: 0, expires: 1000)), redeem(period("2", bought: 5000, expires: 6000))],
            ["1": "-60 1000", "2": "4940 6000"]),
        Case(
            "a renewal that is signed before its start covers from the signature",
            [redeem(period("2", bought: 5000, expires: 6000, signed: 2000))], ["2": "1940 6000"]),
        Case(
            "it does not cover what the period before covers",
            [
                redeem(period("1", bought: 0, expires: 5000)),
                redeem(period("2", bought: 5000, expires: 6000, signed: 2000)),
            ],
            ["1": "-60 4940", "2": "4940 6000"]),
        Case(
            "the period before it lasts until its start",
            [
                redeem(period("1", product: "q", bought: 0, expires: 5000)),
                redeem(period("2", bought: 5000, expires: 6000, signed: 2000, isStatedSigned: true)),
            ],
            ["1": "-60 5000", "2": "5000 6000"]),
        Case(
            "it closes the gap after a period that ended before",
            [
                redeem(period("1", bought: 0, expires: 3000)),
                redeem(period("2", bought: 5000, expires: 6000, signed: 2000)),
            ],
            ["1": "-60 3000", "2": "3000 6000"]),
        Case(
            "a renewal that is taken back before its start replaces nothing",
            [
                redeem(period("1", bought: 0, expires: 5000)),
                redeem(period("2", bought: 5000, expires: 6000, revoked: true, signed: 2000)),
            ],
            ["1": "-60 5000", "2": "4940 6000 revoked"]),
        Case(
            "a purchase of seats takes nobody's place",
            [
                redeem(period("1", bought: 0, expires: 1000)),
                redeem(period("2", bought: 500, expires: 1000, isAdditional: true)),
            ],
            ["1": "-60 1000", "2": "440 1000"]),
        Case(
            "the same if it is redeemed first",
            [
                redeem(period("2", bought: 500, expires: 1000, isAdditional: true)),
                redeem(period("1", bought: 0, expires: 1000, isAdditional: true)),
            ],
            ["1": "-60 1000", "2": "440 1000"]),
        Case(
            "a refund of the added seats leaves the others",
            [
                redeem(period("1", bought: 0, expires: 1000)),
                redeem(period("2", bought: 500, expires: 1000, revoked: true, isAdditional: true)),
            ],
            ["1": "-60 1000", "2": "440 1000 revoked"]),
        Case(
            "a refund of the others leaves the added seats",
            [
                redeem(period("1", bought: 0, expires: 1000, revoked: true, signed: 600, isAdditional: true)),
                redeem(period("2", bought: 500, expires: 1000, isAdditional: true)),
            ],
            ["1": "-60 1000 revoked", "2": "440 1000"]),
        Case(
            "the next period takes the place of both",
            [
                redeem(period("1", bought: 0, expires: 1000)),
                redeem(period("2", bought: 500, expires: 1000, isAdditional: true)),
                redeem(period("3", bought: 1000, expires: 2000, isAdditional: true)),
            ],
            ["1": "-60 940", "2": "440 940", "3": "940 2000"]),
        Case(
            "another product takes the place, whatever the reason",
            [
                redeem(period("1", bought: 0, expires: 1000)),
                redeem(period("2", product: "q", bought: 500, expires: 1500, isAdditional: true)),
            ],
            ["1": "-60 440", "2": "440 1500"]),
    ]

    @Test(arguments: cases.indices) func `each transaction covers its time`(index: Int) {
        let example = Self.cases[index]
        let (_, decision) = Rules.play(example.steps)
        var facts = decision.facts
        let original = Rules.claim().key
        if example.revokedByTeam { facts.revokedByTeam.insert(original) }
        func text(_ moment: Timestamp?) -> String {
            moment.map {
                "\(($0.millisecondsSince1970 - Rules.now.millisecondsSince1970) / 1000)"
            } ?? "-"
        }
        let coverage = facts.coverage(of: original).map { key, coverage in
            (
                key.identifier,
                "\(text(coverage.beginsAt)) \(text(coverage.endsAt))" + (coverage.isRevoked ? " revoked" : "")
            )
        }
        #expect(Dictionary(uniqueKeysWithValues: coverage) == example.expected, "\(example.name)")
    }
}
