import AppStore
import Proofs
import Testing

/// Refunds, their requests and reversals, and the end of family sharing.
@Suite struct RefundRuleTests {
    enum Sale {
        case consumable, requested, nonConsumable, restored, refunded, shared, currentPeriod, earlierPeriod
    }

    enum Event {
        case request, refund, decline, reverse, revokeFamilySharing
    }

    @Test(
        arguments: [
            (.consumable, .request, ["CONSUMPTION_REQUEST"]), (.nonConsumable, .request, ["CONSUMPTION_REQUEST"]),
            (.shared, .request, []), (.currentPeriod, .request, ["CONSUMPTION_REQUEST"]), (.refunded, .request, nil),
            (.consumable, .refund, ["revoke 1", "REFUND"]),
            // A restored or repeated transaction is the same purchase.
            (.restored, .refund, ["revoke 1", "revoke 2", "REFUND"]),
            (.currentPeriod, .refund, ["revoke 2", "subscription revoked", "REFUND"]),
            (.earlierPeriod, .refund, ["revoke 1", "REFUND"]),
            (.refunded, .refund, nil),
            (.requested, .decline, ["REFUND_DECLINED"]), (.consumable, .decline, nil), (.refunded, .decline, nil),
            (.shared, .decline, nil),
            (.refunded, .reverse, ["reinstate 1", "REFUND_REVERSED"]), (.consumable, .reverse, nil),
            (.shared, .revokeFamilySharing, ["revoke 1", "REVOKE"]), (.nonConsumable, .revokeFamilySharing, nil),
        ] as [(Sale, Event, [String]?)])
    func `a refund changes the purchase, and the developer is notified`(
        sale: Sale,
        event: Event,
        expected: [String]?
    ) throws {
        let decision = try decision(about: sale)
        guard let expected else {
            #expect(throws: StoreError.self) { try effects(of: event, decision) }
            return
        }
        #expect(try effects(of: event, decision).map(Self.words) == expected)
    }

    /// Each case has the product type, the day of the refund, the named consumed and refunded parts, and the stated refund.
    @Test(
        arguments: [
            (.autoRenewableSubscription, 10, nil, nil, "REFUND_PRORATED 66667"),
            (.autoRenewableSubscription, 10, 40_000, nil, "REFUND_PRORATED 66667"),
            (.autoRenewableSubscription, 10, nil, 25_000, "REFUND_PRORATED 25000"),
            (.autoRenewableSubscription, 0, nil, nil, "REFUND_FULL 100000"),
            (.autoRenewableSubscription, 30, nil, nil, nil),
            (.consumable, 10, 40_000, nil, "REFUND_PRORATED 60000"),
            (.consumable, 10, 40_000, 25_000, "REFUND_PRORATED 25000"),
            (.nonConsumable, 10, 0, nil, "REFUND_FULL 100000"), (.nonConsumable, 10, 100_000, nil, nil),
            (.nonRenewingSubscription, 10, nil, nil, nil), (.consumable, 10, nil, 0, nil),
            (.consumable, 10, nil, 100_001, nil),
        ] as [(ProductType, Int64, Int?, Int?, String?)])
    func `a prorated refund is of the time that is left, or of what is not consumed`(
        type: ProductType, day: Int64, consumed: Int?, percentage: Int?, expected: String?
    ) throws {
        var sold = RuleFixture.transaction(type: type)
        sold.expiresDate = type == .autoRenewableSubscription ? RuleFixture.day(30) : nil
        let decision = RefundEffects(transaction: sold, related: [sold], subscription: nil, consumed: consumed)
        func refund() throws -> Transaction.Revocation? {
            let effects = try decision.refund(
                isProrated: true, percentage: percentage, reason: .refundedForOtherReason, at: RuleFixture.day(day))
            guard case .notify(.refund, let refunded, _, _)? = effects.last else { return nil }
            return refunded.revocation
        }
        guard let expected else {
            #expect(throws: StoreError.self) { try refund() }
            return
        }
        let revocation = try #require(try refund())
        #expect("\(revocation.type.rawValue) \(revocation.percentage ?? 0)" == expected)
    }

    @Test(arguments: [(29, "subscription active"), (30, "subscription expired")] as [(Int64, String)])
    func `a reversed refund reinstates the subscription until the end of the period`(
        day: Int64,
        expected: String
    ) throws {
        var subscription = try RuleFixture().subscription()
        subscription.revoke()
        let transaction = RuleFixture.transaction(
            of: "basic.monthly", type: .autoRenewableSubscription, revoked: .refundFull)
        let decision = RefundEffects(transaction: transaction, related: [transaction], subscription: subscription)
        let effects = try decision.reverse(at: RuleFixture.day(day))
        #expect(effects.map(Self.words) == ["reinstate 1", expected, "REFUND_REVERSED"])
    }

    @Test func `a notification has the transaction and the subscription after the refund`() throws {
        let effects = try effects(of: .refund, try decision(about: .currentPeriod))
        guard case .notify(_, let transaction, let subscription, nil) = try #require(effects.last) else {
            Issue.record("There is no notification.")
            return
        }
        #expect(transaction.revocation?.type == .refundFull)
        #expect(transaction.revocation?.date == RuleFixture.day(5))
        #expect(subscription?.status == .revoked)
    }

    @Test(
        arguments: [(.refundFull, true), (.refundProrated, true), (.familyRevoke, false), (nil, false)]
            as [(RevocationType?, Bool)])
    func `the history of refunds has what was refunded`(type: RevocationType?, isRefunded: Bool) {
        #expect(RuleFixture.transaction(revoked: type).isRefunded == isRefunded)
    }

    @Test(
        arguments: [
            ("gate", RuleFixture.transaction(), "bob", true), ("gate", RuleFixture.transaction(), "alice", false),
            ("gate", RuleFixture.transaction(revoked: .refundFull), "bob", false),
            ("gate", RuleFixture.transaction(ownership: .familyShared), "bob", false),
            ("seeds", RuleFixture.transaction(of: "seeds", type: .consumable), "bob", false),
        ] as [(String, Transaction, String, Bool)])
    func `a family shares non-consumables that the catalog makes shareable`(
        name: String,
        transaction: Transaction,
        account: String,
        isShareable: Bool
    ) throws {
        let product = try RuleFixture().product(name)
        let isShared = (try? transaction.checkShareable(with: account, product: product)) != nil
        #expect(isShared == isShareable)
    }

    @Test func `a family member gets an original purchase of their own`() {
        let shared = RuleFixture.transaction("1").shared(
            with: "bob", transactionIdentifier: "2", orderIdentifier: "M2")
        #expect(shared.account == "bob")
        #expect(shared.ownership == .familyShared)
        #expect(shared.originalTransactionIdentifier == "2")
        #expect(shared.price.milliunits == 0)
    }

    private func decision(about sale: Sale) throws -> RefundEffects {
        let first = RuleFixture.transaction("1")
        switch sale {
        case .consumable, .requested:
            let seeds = RuleFixture.transaction("1", of: "seeds", type: .consumable)
            return RefundEffects(
                transaction: seeds, related: [seeds], subscription: nil, isRequested: sale == .requested)
        case .nonConsumable: return RefundEffects(transaction: first, related: [first], subscription: nil)
        case .restored:
            let related = [first, RuleFixture.transaction("2", original: "1")]
            return RefundEffects(transaction: first, related: related, subscription: nil)
        case .refunded:
            let refunded = RuleFixture.transaction("1", revoked: .refundFull)
            return RefundEffects(transaction: refunded, related: [refunded], subscription: nil)
        case .shared:
            let shared = RuleFixture.transaction("1", ownership: .familyShared)
            return RefundEffects(transaction: shared, related: [shared], subscription: nil)
        case .currentPeriod, .earlierPeriod:
            let periods = ["1", "2"].map {
                RuleFixture.transaction($0, original: "1", of: "basic.monthly", type: .autoRenewableSubscription)
            }
            return RefundEffects(
                transaction: sale == .currentPeriod ? periods[1] : periods[0], related: periods,
                subscription: try RuleFixture().subscription())
        }
    }

    private func effects(of event: Event, _ decision: RefundEffects) throws -> [RefundEffect] {
        switch event {
        case .request: try decision.request(reason: .other)
        case .refund: try decision.refund(reason: .refundedForOtherReason, at: RuleFixture.day(5))
        case .decline: try decision.decline()
        case .reverse: try decision.reverse(at: RuleFixture.day(5))
        case .revokeFamilySharing: try decision.revokeFamilySharing(at: RuleFixture.day(5))
        }
    }

    private static func words(_ effect: RefundEffect) -> String {
        switch effect {
        case .update(let transaction):
            "\(transaction.revocation == nil ? "reinstate" : "revoke") \(transaction.transactionIdentifier)"
        case .save(let subscription): "subscription \(subscription.status)"
        case .notify(let type, _, _, _): type.rawValue
        case .notifySeats: "REFUND SEATS"
        }
    }
}
