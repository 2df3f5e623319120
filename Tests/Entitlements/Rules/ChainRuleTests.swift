import Entitlements
import Proofs
import Testing

/// The owner of a line under a purchase token of which alice owns another line.
@Suite struct ChainRuleTests {
    typealias Rules = RuleFixture

    private static func line(_ transaction: String = "2", signed: Int64 = 0, expires: Int64? = 200) -> Claim {
        Rules.claim(transaction, chain: "1", product: "q", signed: signed, expires: expires)
    }

    private static let main = Rules.claim("1", expires: 200)

    @Test func `a statement about a line goes to the owner of the chain, unless somebody owns the line`() {
        let (results, decision) = Rules.play([.redeem(Self.main, Rules.alice), .state(Self.line())])
        #expect(results == ["granted", "granted"])
        #expect(decision.owner(of: "2") == Rules.alice)
        let others = Rules.play([
            .redeem(Self.line(), Rules.bob), .redeem(Self.main, Rules.alice), .state(Self.line(signed: 1)),
        ])
        #expect(others.results == ["granted", "granted", "recorded"])
        #expect(others.decision.owner(of: "2") == Rules.bob)
        // Nobody owns the chain.
        #expect(Rules.play([.state(Self.line())]).results == ["parked"])
    }

    @Test(arguments: [
        (OwnershipPolicy.keep, "ownedByAnotherUser"), (.transfer(pauseSeconds: 0), "granted"),
        (.transferIfInactive(pauseSeconds: 0), "ownedByAnotherUser"),
    ])
    func `the policy of the main line decides about a line without an owner`(policy: OwnershipPolicy, result: String) {
        let (results, decision) = Rules.play(
            [.redeem(Self.main, Rules.alice), .redeem(Self.line(), Rules.bob)], under: policy, after: 100)
        #expect(results == ["granted", result])
        #expect(decision.owner(of: "2") == (result == "granted" ? Rules.bob : nil))
        #expect(decision.owner(of: "1") == Rules.alice)
    }

    @Test func `a line that was parked before its chain had an owner is granted with its next statement`() {
        let (results, decision) = Rules.play([
            .state(Self.line()), .redeem(Self.main, Rules.alice), .state(Self.line("3", signed: 1)),
            .state(Self.line(signed: 2)),
        ])
        #expect(results == ["parked", "granted", "granted", "granted"])
        #expect(decision.owner(of: "2") == Rules.alice)
    }
}
