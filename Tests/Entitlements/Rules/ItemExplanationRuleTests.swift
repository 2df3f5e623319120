import Entitlements
import Ledger
import Proofs
import Testing
import Vocabulary

/// The explanations of sprout 1, by the facts about the user and the item.
@Suite struct ItemExplanationRuleTests {
    typealias Rules = RuleFixture

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let facts: ItemFacts
        let cause: ItemExplanation.Cause
        var isOwned = false
        /// The words in the sentence or the remedy.
        var says: [String] = []
    }

    private static func facts(_ change: (inout ItemFacts) -> Void) -> ItemFacts {
        var facts = ItemFacts()
        facts.products = ["p"]
        change(&facts)
        return facts
    }

    private static func transaction(
        ends: Int64? = nil,
        refunded: Int64? = nil,
        grace: Int64? = nil,
        revocation: Revocation? = nil,
        facts: [TransactionFact: StatedValue] = [:],
        from origin: Origin = .localSandbox
    ) -> RedeemedTransaction {
        RedeemedTransaction(
            sequence: 1, origin: origin, transactionIdentifier: "7", originalTransactionIdentifier: "7",
            productIdentifier: "p", purchaseDate: Rules.now, redeemedAt: Rules.now,
            revocationDate: refunded.map(Rules.later),
            expiresAt: ends.map(Rules.later), graceEndsAt: grace.map(Rules.later), revocation: revocation,
            facts: TransactionFacts(facts))
    }

    private static func purchase(
        _ transaction: RedeemedTransaction,
        type: ProductType = .autoRenewableSubscription,
        renewal: [RenewalFact: StatedValue] = [:],
        counts: Bool = true
    ) -> ItemFacts.Purchase? {
        let stated = StatedRenewal(statedAt: Rules.later(10), proofDigest: [], facts: RenewalFacts(renewal))
        return PurchaseStatus([transaction], type, stated, at: Rules.later(150)).map {
            ItemFacts.Purchase($0, of: [transaction], counts: counts)
        }
    }

    private static func purchases(_ purchases: ItemFacts.Purchase?...) -> ItemFacts {
        facts { $0.purchases = purchases.compactMap(\.self) }
    }

    private static func owned(
        _ source: OwnedItem.Source,
        _ state: PurchaseState = .owned,
        until: Int64? = nil,
        renews: Bool? = false
    ) -> ItemFacts {
        facts {
            $0.owned = OwnedItem(
                item: Rules.sprout, source: source, state: state, since: Rules.now, until: until.map(Rules.later),
                renews: renews)
        }
    }

    private static func grant(ends: Int64? = nil, revocation: Revocation? = nil) -> Grant {
        Grant(
            identifier: "g", item: Rules.sprout, reason: "gift", grantedBy: "K", grantedAt: Rules.now,
            endsAt: ends.map(Rules.later), revocation: revocation)
    }

    private static func event(_ event: AuditEntry.Event, reason: String? = nil) -> ItemFacts {
        facts {
            $0.event = AuditEntry(
                happenedAt: Rules.now, event: event, actor: .user, origin: .localSandbox, reference: "9", subject: "p",
                reason: reason)
            $0.otherOwner = User(name: "bob")
        }
    }

    private static func expected(until: Int64? = nil) -> ExpectedPurchase {
        ExpectedPurchase(
            app: "a", origin: .localSandbox, originalTransactionIdentifier: "9", productIdentifier: "p",
            purchaseDate: Rules.now, expiresAt: until.map(Rules.later))
    }

    private static let unclaimed = Rules.claim("9", app: "a", of: 9)

    private static let refusal = event(.refused, reason: "ownedByAnotherUser").event

    private static let fraud = Revocation(revokedAt: Rules.now, reason: "fraud", revokedBy: "K")

    private static let shared: [TransactionFact: StatedValue] = [.inAppOwnershipType: .text("FAMILY_SHARED")]
    private static let assigned: [TransactionFact: StatedValue] = [.inAppOwnershipType: .text("ASSIGNED")]

    static let cases = [
        Case(
            testDescription: "bought", facts: owned(.purchase(ItemPurchase(transaction())), until: 200, renews: true),
            cause: .owned,
            isOwned: true, says: ["bought p", "it renews"]),
        Case(
            testDescription: "shared by the family",
            facts: owned(.purchase(ItemPurchase(transaction(facts: shared))), .familyShared),
            cause: .familyShared, isOwned: true, says: ["A member of the family has bought p"]),
        Case(
            testDescription: "a subscription is shared by the family",
            facts: owned(.purchase(ItemPurchase(transaction(facts: shared))), .active, until: 200, renews: true),
            cause: .familyShared, isOwned: true, says: ["A member of the family has bought p", "it renews"]),
        Case(
            testDescription: "a seat", facts: owned(.purchase(ItemPurchase(transaction(facts: assigned))), .active),
            cause: .assigned, isOwned: true, says: ["Another customer has paid for the user's seat of p"]),
        Case(
            testDescription: "in the grace period", facts: owned(.purchase(ItemPurchase(transaction())), .gracePeriod),
            cause: .gracePeriod, isOwned: true, says: ["The user has bought p", "correct the payment method"]),
        Case(
            testDescription: "a seat in the grace period",
            facts: owned(.purchase(ItemPurchase(transaction(facts: assigned))), .gracePeriod),
            cause: .gracePeriod, isOwned: true, says: ["could not be charged", "paid for the user's seat of p"]),
        Case(
            testDescription: "granted", facts: owned(.grant(identifier: "g")), cause: .granted, isOwned: true),
        Case(testDescription: "free", facts: owned(.rule), cause: .ownedByEverybody, isOwned: true),
        Case(
            testDescription: "expired, with the reason",
            facts: purchases(purchase(transaction(ends: 100), renewal: [.expirationIntent: .integer(1)])),
            cause: .expired, says: ["turned renewal off"]),
        Case(
            testDescription: "in billing retry",
            facts: purchases(purchase(transaction(ends: 100), renewal: [.isInBillingRetryPeriod: .integer(1)])),
            cause: .renewalFailed, says: ["Apple retries"]),
        Case(
            testDescription: "paused",
            facts: purchases(
                purchase(
                    transaction(ends: 100, from: .localPlayProduction),
                    renewal: [
                        .subscriptionState: .text("SUBSCRIPTION_STATE_PAUSED"), .autoRenewStatus: .integer(1),
                        .autoResumeTime: .integer(Rules.later(999).millisecondsSince1970),
                    ])),
            cause: .paused, says: ["has paused p", "resumes on \(Rules.later(999).rfc3339)", "Google Play"]),
        Case(
            testDescription: "bought, and the developer has canceled",
            facts: facts {
                $0.owned = owned(.purchase(ItemPurchase(transaction())), .willNotRenew, until: 200).owned
                $0.ending = .developerCancelled
            }, cause: .owned, isOwned: true, says: ["does not renew because the developer canceled it"]),
        Case(
            testDescription: "refunded", facts: purchases(purchase(transaction(refunded: 50), type: .nonConsumable)),
            cause: .refunded, says: ["Apple has refunded p", "reportaproblem.apple.com"]),
        Case(
            testDescription: "a subscription is revoked",
            facts: purchases(purchase(transaction(ends: 200, refunded: 50))), cause: .revokedByAppStore),
        Case(
            testDescription: "revoked by the team",
            facts: purchases(purchase(transaction(revocation: fraud), type: .nonConsumable)), cause: .revokedByTeam,
            says: ["fraud", "PUT"]),
        Case(
            testDescription: "upgraded",
            facts: purchases(purchase(transaction(ends: 100, facts: [.isUpgraded: .integer(1)]))),
            cause: .upgraded),
        Case(
            testDescription: "bought in the sandbox",
            facts: purchases(purchase(transaction(), type: .nonConsumable, counts: false)), cause: .originNotAccepted,
            says: ["The user has bought p in", "sandbox-users"]),
        Case(
            testDescription: "shared by the family in the sandbox",
            facts: purchases(purchase(transaction(facts: shared), type: .nonConsumable, counts: false)),
            cause: .originNotAccepted, says: ["A member of the family has bought p in"]),
        Case(
            testDescription: "an active purchase explains more than an expired one",
            facts: purchases(
                purchase(transaction(ends: 100)), purchase(transaction(), type: .nonConsumable, counts: false)),
            cause: .originNotAccepted),
        Case(
            testDescription: "a subscription of another product runs",
            facts: purchases(purchase(transaction(ends: 200))),
            cause: .productChanged, says: ["which does not grant the item"]),
        Case(testDescription: "a grant has ended", facts: facts { $0.grant = grant(ends: 10) }, cause: .grantEnded),
        Case(
            testDescription: "a grant is revoked", facts: facts { $0.grant = grant(revocation: fraud) },
            cause: .grantTakenBack, says: ["fraud"]),
        Case(
            testDescription: "refused, because another user owns it",
            facts: event(.refused, reason: "ownedByAnotherUser"),
            cause: .refused, says: ["Another user", "log in as that user"]),
        Case(
            testDescription: "transferred", facts: event(.transferredOut), cause: .transferredToAnotherUser),
        Case(
            testDescription: "expected by an import, which says more than an unclaimed purchase",
            facts: facts {
                $0.expected = expected(until: 200)
                $0.unclaimed = unclaimed
            }, cause: .expected, says: ["expects a purchase of p", "until", "restore purchases"]),
        Case(
            testDescription: "expected by an import, for a period that is over",
            facts: facts {
                $0.expected = expected(until: 200)
                $0.hasExpectedEnded = true
            }, cause: .expected, says: ["The period is over", "subscribe again"]),
        Case(
            testDescription: "the proof of the expected purchase is refused",
            facts: facts {
                $0.expected = expected()
                $0.event = refusal
            }, cause: .refused),
        Case(
            testDescription: "unclaimed",
            facts: facts { $0.unclaimed = unclaimed }, cause: .unclaimed,
            says: ["may be anybody's", "order number"]),
        Case(
            testDescription: "never bought", facts: facts { _ in }, cause: .neverBought,
            says: ["knows no purchase of p by the user"]),
        Case(testDescription: "no product grants it", facts: ItemFacts(), cause: .notInCatalog),
    ]

    @Test(arguments: cases) func `each situation has one cause and a sentence`(example: Case) {
        let explanation = ItemExplanation(of: Rules.sprout, by: example.facts)
        #expect(explanation.cause == example.cause)
        #expect(explanation.isOwned == example.isOwned)
        for words in example.says {
            #expect((explanation.sentence + " " + (explanation.remedy ?? "")).contains(words), "\(explanation)")
        }
    }

    @Test func `each cause has a case`() {
        #expect(Set(Self.cases.map(\.cause)) == Set(ItemExplanation.Cause.allCases))
    }

    @Test func `an unclaimed purchase, which may be anybody's, is not named`() {
        let explanation = ItemExplanation(of: Rules.sprout, by: Self.facts { $0.unclaimed = Self.unclaimed })
        #expect(explanation.reference == nil && explanation.origin == nil && explanation.since == nil)
        #expect(!(explanation.remedy ?? "").contains(Self.unclaimed.transactionIdentifier))
    }

    @Test func `the owner of a refused purchase is named`() {
        let explanation = ItemExplanation(of: Rules.sprout, by: Self.event(.refused, reason: "ownedByAnotherUser"))
        #expect(explanation.otherOwner == User(name: "bob"))
        #expect(explanation.reference == "9")
    }
}
