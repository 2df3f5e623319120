import AppStore
import Proofs
import Testing

/// Family Sharing: the purchases that can be shared, the events that reach family members, and the people of a family.
@Suite struct FamilyRuleTests {
    enum State: CaseIterable {
        case active, inGracePeriod, inBillingRetry, expired, revoked
    }

    @Test(
        arguments: [
            (.active, true), (.inGracePeriod, true), (.inBillingRetry, false), (.expired, false), (.revoked, false),
        ] as [(State, Bool)])
    func `a subscription is shared while the purchaser is entitled to it`(state: State, isShareable: Bool) throws {
        let fixture = try RuleFixture()
        let product = try fixture.product("gate")
        let transaction = RuleFixture.transaction(of: "premium.monthly", type: .autoRenewableSubscription)
        let subscription = try subscription(in: state, fixture)
        let isShared =
            (try? transaction.checkShareable(with: "bob", product: product, subscription: subscription)) != nil
        #expect(isShared == isShareable)
        #expect(throws: StoreError.self) {
            try transaction.checkShareable(
                with: "bob", product: try fixture.product("premium.monthly"), subscription: subscription)
        }
    }

    private func subscription(in state: State, _ fixture: RuleFixture) throws -> CustomerSubscription {
        var subscription = try fixture.subscription("premium.monthly")
        switch state {
        case .active: break
        case .inGracePeriod, .inBillingRetry:
            _ = subscription.becomeDue(
                fixture.terms(day: 30, isBillingFailing: true, isGracePeriodEnabled: state == .inGracePeriod))
        case .expired: _ = try subscription.expireNow(at: RuleFixture.day(5))
        case .revoked: subscription.revoke()
        }
        return subscription
    }

    @Test(
        arguments: [
            (.notify(.subscribed, .resubscribe), true), (.notify(.didRenew, nil), true),
            (.notify(.didRenew, .billingRecovery), true), (.notify(.didFailToRenew, .gracePeriod), true),
            (.notify(.gracePeriodExpired, nil), true), (.notify(.expired, .voluntary), true),
            (.notify(.didChangeRenewalStatus, .autoRenewDisabled), true),
            (.notify(.didChangeRenewalPref, .downgrade), true), (.notify(.offerRedeemed, nil), true),
            (.notify(.renewalExtended, nil), true), (.markUpgraded, true), (.setExpiresDate(RuleFixture.now), true),
            (.notify(.priceIncrease, .pending), false), (.notify(.priceIncrease, .accepted), false),
            (.notify(.didChangeRenewalPref, .increaseQuantity), false),
            (.notify(.didChangeRenewalPref, .decreaseQuantity), false),
        ] as [(SubscriptionEffect, Bool)])
    func `an event reaches family members, unless it is about prices or seats`(
        effect: SubscriptionEffect,
        reaches: Bool
    ) {
        #expect(effect.forFamilyMember == (reaches ? effect : nil))
    }

    @Test func `a family member gets the same period free of charge and without seats`() throws {
        let fixture = try RuleFixture()
        let product = try fixture.product("premium.monthly")
        let (purchased, effects) = CustomerSubscription.first(
            product, try #require(product.subscription), seats: 3, offer: nil, originalTransactionIdentifier: "1",
            account: "alice", fixture.terms())
        guard case .charge(let charge)? = effects.first, case .charge(let shared)? = effects.first?.forFamilyMember
        else {
            Issue.record("Nothing is charged.")
            return
        }
        #expect(charge.seats != nil && charge.quantity == 3 && charge.price.milliunits == 9990)
        #expect(shared.seats == nil && shared.quantity == 1 && shared.price.milliunits == 0)
        #expect(shared.startDate == charge.startDate && shared.expiresDate == charge.expiresDate)
        let member = purchased.shared(with: "bob", originalTransactionIdentifier: "2")
        #expect(member.account == "bob" && member.ownership == .familyShared && purchased.ownership == .purchased)
        #expect(member.originalTransactionIdentifier == "2" && member.sharedOriginalTransactionIdentifier == "1")
        #expect(member.quantity == 1 && member.expiresDate == purchased.expiresDate)
    }

    @Test(arguments: [RevocationReason.refundedDueToIssue, .refundedForOtherReason])
    func `the end of the sharing has the reason of the purchaser's refund`(reason: RevocationReason) throws {
        let shared = RuleFixture.transaction(ownership: .familyShared)
        let decision = RefundEffects(transaction: shared, related: [shared], subscription: nil)
        let effects = try decision.revokeFamilySharing(for: reason, at: RuleFixture.day(5))
        guard case .update(let revoked)? = effects.first else {
            Issue.record("Nothing is revoked.")
            return
        }
        #expect(revoked.revocation?.reason == reason && revoked.revocation?.type == .familyRevoke)
        #expect(throws: StoreError.self) { try decision.refund(reason: reason, at: RuleFixture.day(5)) }
    }

    @Test(
        arguments: [
            (["bob", "carol"], "carol", ["carol"]), (["bob", "carol"], "alice", ["alice", "bob", "carol"]),
            (["bob"], "bob", ["alice", "bob"]),
        ] as [([String], String, [String])])
    func `a family ends with its organizer, and when one person is left`(
        members: [String],
        leaving: String,
        expected: [String]
    ) {
        #expect(Family(organizer: "alice", members: members).leaving(with: leaving) == expected)
    }

    @Test(arguments: [(4, true), (5, false)])
    func `a family has six people at most`(members: Int, hasRoom: Bool) {
        let family = Family(organizer: "alice", members: (0..<members).map { "member \($0)" })
        #expect(((try? family.checkRoom()) != nil) == hasRoom)
    }
}
