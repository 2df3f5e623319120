import Entitlements
import Proofs
import Testing
import Vocabulary

/// The rules of account tokens.
@Suite struct AccountTokenRuleTests {
    typealias Rules = RuleFixture

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let steps: [RuleFixture.Step]
        let results: [String]
        let owner: Int64?
    }

    static let cases = [
        Case(
            testDescription: "the token's owner has the purchase",
            steps: [.redeem(Rules.claim(of: Rules.alice), Rules.alice)], results: ["granted"], owner: Rules.alice),
        Case(
            testDescription: "another user is refused",
            steps: [.redeem(Rules.claim(of: Rules.alice), Rules.bob)], results: ["appAccountTokenMismatch"], owner: nil),
        Case(
            testDescription: "an unknown token names no user",
            steps: [.redeem(Rules.claim(of: 99), Rules.bob)], results: ["granted"], owner: Rules.bob),
        Case(
            testDescription: "a statement reaches the token's owner before anybody presents the transaction",
            steps: [.state(Rules.claim(of: Rules.alice)), .redeem(Rules.claim(), Rules.bob)],
            results: ["granted", "appAccountTokenMismatch"], owner: Rules.alice),
        Case(
            testDescription: "a token moves a purchase that was redeemed without one",
            steps: [.redeem(Rules.claim(), Rules.bob), .state(Rules.claim(signed: 1, of: Rules.alice))],
            results: ["granted", "recorded"], owner: Rules.alice),
        Case(
            testDescription: "a purchase that has added to a balance stays",
            steps: [
                .redeem(Rules.claim(item: nil, credit: Credit(balance: "coins", amount: 1)), Rules.bob),
                .state(Rules.claim(signed: 1, of: Rules.alice, item: nil, credit: Credit(balance: "coins", amount: 1))),
            ],
            results: ["granted", "recorded"], owner: Rules.bob),
        Case(
            testDescription: "the token of the last bought transaction decides",
            steps: [
                .state(Rules.claim("1", bought: 0, of: Rules.alice)),
                .state(Rules.claim("2", original: "1", bought: 10, of: Rules.bob)),
            ],
            results: ["granted", "granted"], owner: Rules.bob),
        Case(
            testDescription: "the same in the other order",
            steps: [
                .state(Rules.claim("2", original: "1", bought: 10, of: Rules.bob)),
                .state(Rules.claim("1", bought: 0, of: Rules.alice)),
            ],
            results: ["granted", "granted"], owner: Rules.bob),
        Case(
            testDescription: "of two statements about one transaction the one signed last decides",
            steps: [
                .state(Rules.claim(signed: 5, of: Rules.bob)), .state(Rules.claim(signed: 1, of: Rules.alice)),
            ],
            results: ["granted", "recorded"], owner: Rules.bob),
        Case(
            testDescription: "no policy transfers a purchase that a token has named",
            steps: [.redeem(Rules.claim(of: Rules.alice), Rules.alice), .redeem(Rules.claim(), Rules.bob)],
            results: ["granted", "appAccountTokenMismatch"], owner: Rules.alice),
    ]

    @Test(arguments: cases)
    func `the token determines the owner`(story: Case) {
        for policy in [OwnershipPolicy.keep, .transfer(pauseSeconds: 0), .transferIfInactive(pauseSeconds: 0)] {
            let (results, decision) = Rules.play(story.steps, under: policy, after: 100)
            #expect(results == story.results, "\(policy)")
            #expect(decision.owner(of: "1") == story.owner, "\(policy)")
        }
    }
}
