import Entitlements
import Proofs
import Testing
import Vocabulary

/// A proof that is verified, and not redeemed, is about the purchase as its items would be.
@Suite struct VerifiedPurchaseRuleTests {
    private typealias Rules = RuleFixture

    private struct Case {
        let name: String
        /// The claims that alice has redeemed.
        let redeemed: [Claim]
        /// The statements that were parked after that.
        var parked: [Claim] = []
        var type = ProductType.nonConsumable
        let verified: Claim
        /// The end in seconds, "revoked", "redeemed", "owned" and "conflicting" at 600 seconds.
        let expected: String
    }

    /// A permanent purchase or a restored one of it.
    private static func permanent(_ transaction: String, revoked: Bool = false, signed: Int64) -> Claim {
        Rules.claim(transaction, original: "1", revoked: revoked, repeatsOriginal: true, signed: signed)
    }

    private static func period(_ number: Int64, product: String = "plus", revoked: Bool = false, signed: Int64? = nil)
        -> Claim
    {
        Rules.claim(
            "\(number)", original: "1", product: product, bought: number * 500, revoked: revoked,
            signed: signed ?? number * 500, expires: number * 500 + 500,
            facts: TransactionFacts([.type: .text(ProductType.autoRenewableSubscription.rawValue)]))
    }

    private static let (bought, refunded) = (permanent("1", signed: 0), permanent("1", revoked: true, signed: 100))
    private static let (restored, old) = (permanent("2", signed: 200), permanent("2", signed: 50))

    private static let cases: [Case] = [
        Case(name: "unknown", redeemed: [], verified: bought, expected: "- owned"),
        Case(name: "known", redeemed: [bought], verified: bought, expected: "- redeemed owned"),
        Case(name: "refunded", redeemed: [bought, refunded], verified: bought, expected: "- revoked redeemed"),
        Case(
            name: "a refund that is not redeemed", redeemed: [bought], verified: refunded,
            expected: "- revoked redeemed"),
        Case(name: "refunded for nobody", redeemed: [], parked: [refunded], verified: bought, expected: "- revoked"),
        Case(
            name: "a refund before the last signature", redeemed: [bought, refunded, restored], verified: refunded,
            expected: "- redeemed owned"),
        Case(
            name: "a refund of the restored purchase", redeemed: [bought, refunded], verified: restored,
            expected: "- owned"),
        Case(
            name: "an old proof under another identifier", redeemed: [bought, refunded], verified: old,
            expected: "- revoked"),
        Case(
            name: "another product under a known identifier", redeemed: [bought],
            verified: Rules.claim("1", product: "q"), expected: "- conflicting"),
        Case(
            name: "another product under a known identifier of another purchase", redeemed: [bought],
            verified: Rules.claim("1", original: "0", product: "q"), expected: "- conflicting"),
        Case(
            name: "another product under an identifier that nobody has redeemed", redeemed: [], parked: [bought],
            verified: Rules.claim("1", product: "q"), expected: "- conflicting"),
        Case(
            name: "another product of the same purchase", redeemed: [bought],
            verified: Rules.claim("2", original: "1", product: "q"), expected: "- owned"),
        Case(
            name: "an unknown consumable", redeemed: [], type: .consumable,
            verified: Rules.claim(item: nil, credit: Credit(balance: "seeds", amount: 1)), expected: "- owned"),
        Case(
            name: "the current period", redeemed: [period(1)], type: .autoRenewableSubscription, verified: period(1),
            expected: "1000 redeemed owned"),
        Case(
            name: "the period before it", redeemed: [period(0), period(1)], type: .autoRenewableSubscription,
            verified: period(0), expected: "440 redeemed owned"),
        Case(
            name: "a period before one of another product", redeemed: [period(0), period(1, product: "gold")],
            type: .autoRenewableSubscription, verified: period(0), expected: "440 redeemed"),
        Case(
            name: "a period that has ended", redeemed: [period(0)], type: .autoRenewableSubscription,
            verified: period(0), expected: "500 redeemed"),
        Case(
            name: "a renewal that nobody has redeemed", redeemed: [period(0)], type: .autoRenewableSubscription,
            verified: period(1), expected: "1000 owned"),
        Case(
            name: "a refunded period", redeemed: [period(1), period(1, revoked: true, signed: 550)],
            type: .autoRenewableSubscription, verified: period(1), expected: "1000 revoked redeemed"),
        Case(
            name: "a product that left the catalog", redeemed: [], type: .autoRenewableSubscription,
            verified: Rules.claim(
                item: nil, facts: TransactionFacts([.expiresDate: .integer(Rules.later(500).millisecondsSince1970)])),
            expected: "500"),
    ]

    @Test(arguments: cases.indices) func `a verified purchase is what a redemption would make of it`(index: Int) {
        let example = Self.cases[index]
        let steps =
            example.redeemed.map { RuleFixture.Step.redeem($0, Rules.alice) } + example.parked.map { .state($0) }
        let facts = Rules.play(steps, after: 600).decision.facts
        let purchase = VerifiedPurchase(example.verified, example.type, .sandbox, by: facts, at: Rules.later(600))
        let end = purchase.expiresAt.map {
            "\(($0.millisecondsSince1970 - Rules.now.millisecondsSince1970) / 1000)"
        }
        let words = [
            end ?? "-", purchase.isRevoked ? "revoked" : nil, purchase.isRedeemed ? "redeemed" : nil,
            purchase.isOwned ? "owned" : nil,
            purchase.isConflicting ? "conflicting" : nil,
        ]
        #expect(words.compactMap(\.self).joined(separator: " ") == example.expected, "\(example.name)")
    }
}
