import Entitlements
import Proofs
import Testing
import Vocabulary

/// The owner of a purchase that alice has redeemed and bob presents.
@Suite struct OwnershipRuleTests {
    typealias Rules = RuleFixture

    enum Purchase: CaseIterable {
        case forGood, refunded, takenBackByTheTeam, running, ended, endedJustBeforeTheRenewal, inGracePeriod, coins
    }

    /// Bob's results under `keep`, `transfer` and `transferIfInactive`.
    @Test(arguments: [
        (Purchase.forGood, "ownedByAnotherUser", "granted", "ownedByAnotherUser"),
        (.refunded, "ownedByAnotherUser", "revoked", "revoked"),
        (.takenBackByTheTeam, "ownedByAnotherUser", "revoked", "revoked"),
        (.running, "ownedByAnotherUser", "granted", "ownedByAnotherUser"),
        (.ended, "ownedByAnotherUser", "granted", "granted"),
        (.endedJustBeforeTheRenewal, "ownedByAnotherUser", "granted", "ownedByAnotherUser"),
        (.inGracePeriod, "ownedByAnotherUser", "granted", "ownedByAnotherUser"),
        (.coins, "ownedByAnotherUser", "ownedByAnotherUser", "ownedByAnotherUser"),
    ])
    func `the policy decides about a purchase of another user`(
        purchase: Purchase, keep: String, transfer: String, ifInactive: String
    ) {
        for (policy, expected) in [
            (OwnershipPolicy.keep, keep), (.transfer(pauseSeconds: 1000), transfer),
            (.transferIfInactive(pauseSeconds: 1000), ifInactive),
        ] {
            var (steps, presented) = story(of: purchase)
            steps.append(.redeem(presented, Rules.bob))
            var facts = EntitlementFacts()
            if purchase == .takenBackByTheTeam { facts.revokedByTeam = [Rules.claim().key] }
            let (results, decision) = Rules.play(steps, under: policy, after: 100, knowing: facts)
            #expect(results.last == expected, "\(policy)")
            let isBobs = ["granted", "revoked"].contains(expected)
            #expect(decision.owner(of: "1") == (isBobs ? Rules.bob : Rules.alice), "\(policy)")
            #expect(decision.story.contains("2 transferredIn 1") == isBobs)
        }
    }

    private func story(of purchase: Purchase) -> (steps: [RuleFixture.Step], presented: Claim) {
        let claim =
            switch purchase {
            case .forGood, .refunded, .takenBackByTheTeam: Rules.claim()
            case .running: Rules.claim(expires: 1000)
            case .ended: Rules.claim(expires: 50)
            case .endedJustBeforeTheRenewal: Rules.claim(expires: 90)
            case .inGracePeriod: Rules.claim(expires: 50, grace: .until(Rules.later(500)))
            case .coins: Rules.claim(item: nil, credit: Credit(balance: "coins", amount: 10))
            }
        let bought = RuleFixture.Step.redeem(claim, Rules.alice)
        switch purchase {
        case .refunded: return ([bought, .state(Rules.claim(revoked: true, signed: 10))], claim)
        case .endedJustBeforeTheRenewal:
            return ([bought], Rules.claim("2", original: "1", bought: 95, signed: 95, expires: 1000))
        default: return ([bought], claim)
        }
    }

    @Test(arguments: [Purchase.forGood, .refunded, .takenBackByTheTeam, .running, .ended, .inGracePeriod])
    func `the team moves a purchase, and its renewals follow`(purchase: Purchase) throws {
        var facts = EntitlementFacts()
        if purchase == .takenBackByTheTeam { facts.revokedByTeam = [Rules.claim().key] }
        var (_, decision) = Rules.play(story(of: purchase).steps, knowing: facts)
        try decision.move(Rules.claim().key, to: Rules.bob, reason: "a new phone", by: .member("Ada"))
        #expect(decision.owner(of: "1") == Rules.bob)
        #expect(
            decision.story.suffix(4) == ["1 transferredOut 1", "2 transferredIn 1", "1 moved 1", "2 moved 1"])
        _ = decision.state(Rules.claim("2", original: "1", bought: 50, signed: 50, expires: 2000))
        #expect(decision.owner(of: "1") == Rules.bob)
        #expect(decision.story.contains(purchase == .takenBackByTheTeam ? "2 revoked 2" : "2 granted 2"))
        // Alice's device presents it again, and the policy decides.
        #expect(decision.redeem(Rules.claim(), for: Rules.alice, by: .user) == .ownedByAnotherUser)
    }

    @Test func `a purchase that added to a balance, and one with its owner's token, are not moved`() {
        var coins = Rules.play(story(of: .coins).steps).decision
        #expect(throws: GrantError.purchaseAddsToBalance) {
            try coins.move(Rules.claim().key, to: Rules.bob, reason: "x", by: .member("Ada"))
        }
        var named = Rules.play([.redeem(Rules.claim(of: Rules.alice), Rules.alice)]).decision
        #expect(throws: GrantError.accountTokenDecides) {
            try named.move(Rules.claim().key, to: Rules.bob, reason: "x", by: .member("Ada"))
        }
        #expect(coins.owner(of: "1") == Rules.alice && named.owner(of: "1") == Rules.alice)
    }

    /// The pause runs from the last transfer. A purchase that was never transferred has none.
    @Test(arguments: [(999, "transferTooSoon"), (1000, "granted")])
    func `a purchase is not transferred again before the pause is over`(seconds: Int64, expected: String) {
        let policy = OwnershipPolicy.transfer(pauseSeconds: 1000)
        let (_, transferred) = Rules.play(
            [.redeem(Rules.claim(), Rules.carol), .redeem(Rules.claim(), Rules.alice)], under: policy)
        let (results, _) = Rules.play(
            [.redeem(Rules.claim(), Rules.bob)], under: policy, after: seconds, knowing: transferred.facts)
        #expect(results == [expected])
    }

    @Test func `a product that is not in the catalog is refused, and the refusal is the only change`() {
        let (results, decision) = Rules.play([.redeem(Rules.claim(item: nil), Rules.alice)])
        #expect(results == ["productUnknown"])
        #expect(
            decision.changes.events
                == [.refused(.productUnknown, Rules.claim(item: nil), user: Rules.alice, actor: .user)])
    }

    @Test func `a transaction stays with the original that it was redeemed with`() {
        let (results, decision) = Rules.play([
            .redeem(Rules.claim("2", original: "1"), Rules.alice), .redeem(Rules.claim("2", original: "2"), Rules.bob),
        ])
        #expect(results == ["granted", "ownedByAnotherUser"])
        #expect(decision.owner(of: "2") == nil)
    }

    @Test func `claims of one group see each other's changes`() {
        let (results, decision) = Rules.play([
            .redeem(Rules.claim(), Rules.alice), .redeem(Rules.claim(), Rules.bob), .redeem(Rules.claim(), Rules.alice),
        ])
        #expect(results == ["granted", "ownedByAnotherUser", "alreadyRedeemed"])
        #expect(decision.story == ["1 granted 1"])
    }
}
