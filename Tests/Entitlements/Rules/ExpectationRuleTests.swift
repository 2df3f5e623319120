import Entitlements
import Proofs
import Testing

/// Purchase 1, which an import expects for alice.
@Suite struct ExpectationRuleTests {
    typealias Rules = RuleFixture

    private static var expecting: EntitlementFacts {
        var facts = EntitlementFacts()
        facts.expectedOwners[Rules.claim().originalKey] = Rules.alice
        return facts
    }

    enum Story: CaseIterable {
        case nothing, herProof, aNotification, aRenewal, anotherPurchase, anUnknownProduct, anothersToken
        case anothersProof, anothersTransfer, herProofAndAnothers

        var steps: [RuleFixture.Step] {
            let claim = Rules.claim()
            switch self {
            case .nothing: return []
            case .herProof: return [.redeem(claim, Rules.alice)]
            case .aNotification: return [.state(claim)]
            case .aRenewal: return [.state(Rules.claim("2", original: "1"))]
            case .anotherPurchase: return [.redeem(Rules.claim("3"), Rules.bob)]
            case .anUnknownProduct: return [.redeem(Rules.claim(item: nil), Rules.bob)]
            case .anothersToken: return [.redeem(Rules.claim(of: Rules.bob), Rules.bob)]
            case .anothersProof, .anothersTransfer: return [.redeem(claim, Rules.bob)]
            case .herProofAndAnothers: return [.redeem(claim, Rules.alice), .redeem(claim, Rules.bob)]
            }
        }
    }

    @Test(
        arguments: [
            (Story.nothing, [], nil, []),
            (.herProof, ["granted"], Rules.alice, ["1 granted 1"]),
            (.aNotification, ["granted"], Rules.alice, ["1 granted 1"]),
            (.aRenewal, ["granted"], Rules.alice, ["1 granted 2"]),
            (.anotherPurchase, ["granted"], nil, ["2 granted 3"]),
            (.anUnknownProduct, ["productUnknown"], nil, []),
            (.anothersToken, ["granted"], Rules.bob, ["2 granted 1"]),
            (.anothersProof, ["ownedByAnotherUser"], Rules.alice, ["1 granted 1"]),
            (
                .anothersTransfer, ["granted"], Rules.bob,
                ["1 granted 1", "1 transferredOut 1", "2 transferredIn 1"]
            ),
            (.herProofAndAnothers, ["granted", "ownedByAnotherUser"], Rules.alice, ["1 granted 1"]),
        ] as [(Story, [String], Int64?, [String])])
    func `the first proof of an expected purchase confirms it for its customer`(
        story: Story, results: [String], owner: Int64?, audit: [String]
    ) {
        let policy = story == .anothersTransfer ? OwnershipPolicy.transfer(pauseSeconds: 9) : .keep
        let (played, decision) = Rules.play(story.steps, under: policy, knowing: Self.expecting)
        #expect(played == results)
        #expect(decision.owner(of: "1") == owner)
        #expect(decision.story == audit)
        #expect(decision.facts.expectedOwners.isEmpty == (owner != nil))
    }

    @Test func `an expectation takes nothing from a customer who has proved the purchase`() {
        for step in [RuleFixture.Step.redeem(Rules.claim(), Rules.alice), .state(Rules.claim(signed: 9))] {
            var facts = Rules.play([.redeem(Rules.claim(), Rules.bob)]).decision.facts
            facts.expectedOwners[Rules.claim().originalKey] = Rules.alice
            let (_, decision) = Rules.play([step], knowing: facts)
            #expect(decision.owner(of: "1") == Rules.bob)
        }
    }

    @Test func `statements parked before the import go to the customer with the first proof`() {
        var facts = Rules.play([.state(Rules.claim("2", original: "1"))]).decision.facts
        #expect(facts.parked.count == 1)
        facts.expectedOwners[Rules.claim().originalKey] = Rules.alice
        let (results, decision) = Rules.play([.redeem(Rules.claim(), Rules.bob)], knowing: facts)
        #expect(results == ["ownedByAnotherUser"])
        #expect(decision.facts.parked.isEmpty)
        #expect(decision.story == ["1 granted 1", "1 granted 2"])
    }

    @Test func `an expectation counts only if its origin is accepted for the customer`() {
        var decision = Self.expecting.decision(at: Rules.now)
        #expect(decision.state(Rules.claim()) == .parked)
        #expect(decision.redeem(Rules.claim(), for: Rules.bob, by: .user) == .granted)
        #expect(decision.owner(of: "1") == Rules.bob)
        var facts = Self.expecting
        facts.acceptedOriginsByUser[Rules.alice] = [.localSandbox]
        var other = facts.decision(at: Rules.now)
        #expect(other.state(Rules.claim()) == .granted)
        #expect(other.owner(of: "1") == Rules.alice)
    }
}
