import AppStore
import Catalog
import Foundation
import Proofs
import TestSupport
import Testing

/// Families at the store. A line has the date of a notification, the account of its transaction, and its type.
@Suite struct FamilyTests {
    let garden: TestGarden
    var store: Store { garden.store }

    private static let premium = "garden.premium.monthly"
    /// A subscription of a lower level, which is not shareable.
    private static let yearly = "garden.basic.yearly"

    init() throws { garden = try TestGarden(shareable: [Self.premium]) }

    private func buy(_ product: String, _ account: String = "alice") throws -> String {
        try #require(try garden.buy(product, account: account).purchase).transactionIdentifier
    }

    /// The notifications after the first `count`.
    private func told(after count: Int = 0) throws -> [String] {
        try store.notifications().dropFirst(count).map { notification in
            let sale = try store.sale(try #require(notification.transactionIdentifier))
            let type = [notification.type.rawValue, notification.subtype?.rawValue].compactMap(\.self)
            return "\(SubscriptionLines.day(notification.date)) \(sale.account) \(type.joined(separator: " "))"
        }
    }

    @Test func `a subscription is shared with the family, renews for it and ends for it`() throws {
        try store.join("bob", familyOf: "alice")
        let bought = try buy(Self.premium)
        try garden.advance(to: "2026-12-01T12:00:00Z")
        try store.setAutoRenew(false, of: bought)
        try garden.advance(to: "2027-01-01T12:00:00Z")
        #expect(
            try told() == [
                "2026-10-31 alice SUBSCRIBED INITIAL_BUY", "2026-10-31 bob SUBSCRIBED INITIAL_BUY",
                "2026-11-30 alice DID_RENEW", "2026-11-30 bob DID_RENEW",
                "2026-12-01 alice DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED",
                "2026-12-01 bob DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED",
                "2026-12-31 alice EXPIRED VOLUNTARY", "2026-12-31 bob EXPIRED VOLUNTARY",
            ])
        let (alices, bobs) = (try store.history(of: "alice"), try store.history(of: "bob"))
        #expect(bobs.map(\.ownership) == [.familyShared, .familyShared])
        #expect(bobs.map(\.price.milliunits) == [0, 0] && alices.map(\.price.milliunits) == [9990, 9990])
        #expect(bobs.map(\.expiresDate) == alices.map(\.expiresDate))
        #expect(Set(bobs.map(\.originalTransactionIdentifier)) == [bobs[0].transactionIdentifier])
        #expect(Set((alices + bobs).map(\.webOrderLineItemIdentifier)).count == 4)
        // The app of the member gets the first transaction, as it does of a purchase.
        #expect(try store.transactions(account: "bob").map(\.transaction.state) == [.purchased])
        // A new purchase begins the member's subscription anew.
        try garden.buy(Self.premium)
        #expect(
            try told(after: 8) == [
                "2027-01-01 alice SUBSCRIBED RESUBSCRIBE", "2027-01-01 bob SUBSCRIBED RESUBSCRIBE",
            ])
        #expect(try store.subscriptions(of: "bob").map(\.status) == [.active])
    }

    /// An event after which a member may have the shared subscription no more.
    enum Event: CaseIterable {
        case refund, reversedRefund, expiry, gracePeriod, billingRetry, recovery, priceIncrease, downgrade
        case memberLeaves, organizerLeaves, sharingEnds, deletion
    }

    @Test(
        arguments: [
            (.refund, ["10-31 bob REVOKE"], .revoked), (.expiry, ["10-31 bob EXPIRED VOLUNTARY"], .expired),
            (.reversedRefund, ["10-31 bob REVOKE", "10-31 bob REFUND_REVERSED"], .active),
            (.gracePeriod, ["10-31 bob DID_FAIL_TO_RENEW GRACE_PERIOD"], .billingGracePeriod),
            (.billingRetry, ["10-31 bob DID_FAIL_TO_RENEW"], .billingRetry),
            (.recovery, ["10-31 bob DID_FAIL_TO_RENEW", "10-31 bob DID_RENEW BILLING_RECOVERY"], .active),
            (.priceIncrease, [], .active),
            (.downgrade, ["10-31 bob DID_CHANGE_RENEWAL_PREF DOWNGRADE", "11-30 bob REVOKE"], .revoked),
            (.memberLeaves, ["10-31 bob REVOKE"], .revoked), (.organizerLeaves, ["10-31 bob REVOKE"], .revoked),
            (.sharingEnds, ["10-31 bob REVOKE"], .revoked), (.deletion, [], nil),
        ] as [(Event, [String], Status?)])
    func `the member's subscription follows the purchaser's`(
        event: Event,
        expected: [String],
        status: Status?
    ) throws {
        try store.join("bob", familyOf: "alice")
        let bought = try buy(Self.premium)
        switch event {
        case .refund: try store.refund(bought, reason: .refundedDueToIssue)
        case .reversedRefund:
            try store.refund(bought)
            try store.reverseRefund(of: bought)
        case .expiry: try store.expire(bought)
        case .gracePeriod: try store.failRenewal(of: bought, hasGracePeriod: true)
        case .billingRetry: try store.failRenewal(of: bought, hasGracePeriod: false)
        case .recovery:
            try store.failRenewal(of: bought, hasGracePeriod: false)
            try store.resolveBillingIssue(of: bought)
        case .priceIncrease: try store.requestPriceIncrease(of: bought, to: 12_990, needsConsent: true)
        case .downgrade:
            try garden.buy(Self.yearly)
            try garden.advance(to: "2026-12-01T12:00:00Z")
        case .memberLeaves: try store.leaveFamily("bob")
        case .organizerLeaves: try store.leaveFamily("alice")
        case .sharingEnds:
            try store.revokeFamilySharing(of: try #require(try store.history(of: "bob").last).transactionIdentifier)
        case .deletion: try store.delete(bought)
        }
        #expect(try store.subscriptions(of: "bob").map(\.status) == (status.map { [$0] } ?? []))
        guard event != .deletion else { return }
        #expect(try told(after: 2).filter { $0.contains(" bob ") }.map { $0.dropFirst(5) } == expected.map { $0[...] })
        if event == .refund {
            let revocation = try #require(try store.history(of: "bob").last?.revocation)
            #expect(revocation.reason == .refundedDueToIssue && revocation.type == .familyRevoke)
            #expect(revocation.date == store.now)
        }
    }

    @Test func `one who joins gets what the family owns, and one who leaves loses it`() throws {
        try garden.buy("garden.gate")
        try garden.buy("garden.seeds")
        try garden.buy(Self.premium)
        _ = try buy("garden.gate", "bob")
        #expect(try store.family(of: "bob") == nil)
        try store.join("bob", familyOf: "alice")
        #expect(try store.family(of: "bob") == Family(organizer: "alice", members: ["bob"]))
        #expect(
            try told(after: 4) == [
                "2026-10-31 bob ONE_TIME_CHARGE", "2026-10-31 bob SUBSCRIBED INITIAL_BUY",
                "2026-10-31 alice ONE_TIME_CHARGE",
            ])
        #expect(try store.history(of: "bob").map(\.productIdentifier) == ["garden.gate", "garden.gate", Self.premium])
        try garden.advance(to: "2026-11-05T12:00:00Z")
        try store.leaveFamily("bob")
        #expect(
            try told(after: 7) == [
                "2026-11-05 bob REVOKE", "2026-11-05 bob REVOKE", "2026-11-05 alice REVOKE",
            ])
        #expect(try store.family(of: "alice") == nil)
        #expect(
            try store.history(of: "alice").map { $0.revocation?.reason } == [nil, nil, nil, .refundedForOtherReason])
        // Nothing more is shared.
        try garden.advance(to: "2026-12-01T12:00:00Z")
        #expect(try told(after: 10) == ["2026-11-30 alice DID_RENEW"])
        try store.join("bob", familyOf: "alice")
        #expect(
            try told(after: 11) == [
                "2026-12-01 bob ONE_TIME_CHARGE", "2026-12-01 bob SUBSCRIBED RESUBSCRIBE",
                "2026-12-01 alice ONE_TIME_CHARGE",
            ])
        let periods = try store.history(of: "bob").filter { $0.productIdentifier == Self.premium }
        #expect(Set(periods.map(\.originalTransactionIdentifier)).count == 1)
        #expect(periods.map { $0.revocation != nil } == [true, false])
    }

    @Test func `a subscription that is not active is shared when it becomes so`() throws {
        let bought = try buy(Self.premium)
        try store.join("bob", familyOf: "alice")
        try store.leaveFamily("bob")
        try store.failRenewal(of: bought, hasGracePeriod: false)
        try store.join("bob", familyOf: "alice")
        try store.join("carol", familyOf: "alice")
        let count = try store.notifications().count
        try store.resolveBillingIssue(of: bought)
        #expect(
            try told(after: count) == [
                "2026-10-31 alice DID_RENEW BILLING_RECOVERY", "2026-10-31 bob SUBSCRIBED RESUBSCRIBE",
                "2026-10-31 carol SUBSCRIBED INITIAL_BUY",
            ])
    }

    @Test func `the sharing of one purchase ends until the member joins again`() throws {
        try store.join("bob", familyOf: "alice")
        _ = try buy(Self.premium)
        try store.revokeFamilySharing(of: try #require(try store.history(of: "bob").last).transactionIdentifier)
        try garden.advance(to: "2026-12-01T12:00:00Z")
        #expect(
            try told(after: 2) == ["2026-10-31 bob REVOKE", "2026-11-30 alice DID_RENEW"])
        try store.join("carol", familyOf: "alice")
        try store.leaveFamily("bob")
        try store.join("bob", familyOf: "carol")
        #expect(
            try told(after: 4) == [
                "2026-12-01 carol SUBSCRIBED INITIAL_BUY", "2026-12-01 bob SUBSCRIBED RESUBSCRIBE",
            ])
        #expect(try store.family(of: "alice")?.members == ["carol", "bob"])
    }

    @Test func `an upgrade to a shareable product gives it to the family, and a change back takes it`() throws {
        try store.join("bob", familyOf: "alice")
        try garden.buy(Self.yearly)
        try garden.buy(Self.premium)
        #expect(
            try told() == [
                "2026-10-31 alice SUBSCRIBED INITIAL_BUY", "2026-10-31 alice DID_CHANGE_RENEWAL_PREF UPGRADE",
                "2026-10-31 bob SUBSCRIBED INITIAL_BUY",
            ])
        try garden.buy(Self.yearly)
        try garden.advance(to: "2026-12-01T12:00:00Z")
        #expect(
            try told(after: 3) == [
                "2026-10-31 alice DID_CHANGE_RENEWAL_PREF DOWNGRADE",
                "2026-10-31 bob DID_CHANGE_RENEWAL_PREF DOWNGRADE", "2026-11-30 alice DID_RENEW",
                "2026-11-30 bob REVOKE",
            ])
    }

    @Test func `a member's expired subscription follows nothing until the purchaser's is shared anew`() throws {
        try store.join("bob", familyOf: "alice")
        try store.expire(try buy(Self.premium))
        let yearly = try buy(Self.yearly)
        try store.setAutoRenew(false, of: yearly)
        #expect(
            try told(after: 4) == [
                "2026-10-31 alice SUBSCRIBED RESUBSCRIBE",
                "2026-10-31 alice DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED",
            ])
        #expect(try store.subscriptions(of: "bob").map(\.status) == [.expired])
        #expect(try store.history(of: "bob").map { $0.revocation == nil } == [true])
        try garden.buy(Self.premium)
        #expect(
            try told(after: 6) == [
                "2026-10-31 alice DID_CHANGE_RENEWAL_PREF UPGRADE", "2026-10-31 bob SUBSCRIBED RESUBSCRIBE",
            ])
        #expect(try store.history(of: "bob").map(\.isUpgraded) == [false, false])
        #expect(try store.history(of: "alice").map(\.isUpgraded) == [false, true, false])
    }

    @Test func `a member has the period as long as one of the purchaser's seats is not refunded`() throws {
        try store.join("bob", familyOf: "alice")
        let bought = try #require(try garden.buy(Self.premium, quantity: 2).purchase).transactionIdentifier
        try store.changeSeats(of: bought, to: 3)
        let added = try #require(try store.history(of: "alice").last).transactionIdentifier
        #expect(try store.history(of: "bob").map(\.quantity) == [1])
        try store.refund(bought)
        #expect(try store.subscriptions(of: "bob").map(\.status) == [.active])
        try garden.advance(to: "2026-11-05T12:00:00Z")
        try store.refund(added)
        #expect(try store.subscriptions(of: "bob").map(\.status) == [.revoked])
        try store.reverseRefund(of: bought)
        for account in ["alice", "bob"] {
            #expect(try store.subscriptions(of: account).map(\.status) == [.active], "\(account)")
        }
        try store.reverseRefund(of: added)
        #expect(
            try told(after: 3).filter { $0.contains(" bob ") } == [
                "2026-11-05 bob REVOKE", "2026-11-05 bob REFUND_REVERSED",
            ])
    }

    @Test func `a member has a subscription besides the shared one of the same group`() throws {
        let own = try buy(Self.yearly, "bob")
        try store.join("bob", familyOf: "alice")
        let bought = try buy(Self.premium)
        #expect(try told().last == "2026-10-31 bob SUBSCRIBED RESUBSCRIBE")
        let answer = try store.readOrThrow { try $0.allSubscriptionStatuses(own, statuses: []) }
        #expect(answer.data.count == 1)
        let ownerships = try answer.data.flatMap(\.lastTransactions).map { last in
            try garden.transaction(last.signedTransactionInfo).facts.text(.inAppOwnershipType)
        }
        #expect(ownerships == ["PURCHASED", "FAMILY_SHARED"])
        // The member pays for one of them.
        let hasPrice = try answer.data.flatMap(\.lastTransactions).map { last in
            try garden.renewalInfo(last.signedRenewalInfo).facts.integer(.renewalPrice) != nil
        }
        #expect(hasPrice == [true, false])
        #expect(try store.subscriptions(of: "bob").map { $0.renewalPrice != nil } == hasPrice)
        // An extension of the purchaser's reaches the member, and the member's own cannot be requested.
        let shared = try #require(try store.history(of: "bob").last).transactionIdentifier
        let body = #"{"extendByDays":10,"extendReasonCode":1,"requestIdentifier":"1"}"#
        let request = try JSONDecoder().decode(ExtendRenewalDateRequest.self, from: Data(body.utf8))
        #expect(throws: ServerAPIError.familySharedSubscriptionExtensionIneligible) {
            try store.writeOrThrow { try $0.extendSubscriptionRenewalDate(shared, request) }
        }
        _ = try store.writeOrThrow { try $0.extendSubscriptionRenewalDate(bought, request) }
        #expect(try store.sale(shared).expiresDate == store.sale(bought).expiresDate)
        #expect(try told().suffix(2).map { $0.dropFirst(11) } == ["alice RENEWAL_EXTENDED", "bob RENEWAL_EXTENDED"])
    }

    @Test func `a family's refund of a non-consumable is reversed for its members`() throws {
        try store.join("bob", familyOf: "alice")
        let gate = try buy("garden.gate")
        let shared = try #require(try store.history(of: "bob").last).transactionIdentifier
        try store.refund(gate)
        #expect(try store.sale(shared).revocation?.type == .familyRevoke)
        try store.reverseRefund(of: gate)
        #expect(try store.sale(shared).revocation == nil)
        // One who leaves in between does not get it back.
        try store.refund(gate)
        try store.leaveFamily("bob")
        try store.reverseRefund(of: gate)
        #expect(try store.sale(shared).revocation != nil)
        #expect(
            try told(after: 2).filter { $0.contains(" bob ") } == [
                "2026-10-31 bob REVOKE", "2026-10-31 bob REFUND_REVERSED", "2026-10-31 bob REVOKE",
            ])
    }

    @Test func `a family has the time of the purchaser`() throws {
        try store.join("bob", familyOf: "alice")
        _ = try buy(Self.premium)
        _ = try store.advance(.seconds(31 * 86_400), of: "alice")
        #expect(try told(after: 2) == ["2026-11-30 alice DID_RENEW", "2026-11-30 bob DID_RENEW"])
        _ = try buy("garden.gate")
        for sale in try store.history(of: "bob").dropFirst() {
            try store.revokeFamilySharing(of: sale.transactionIdentifier)
        }
        #expect(
            try told(after: 4) == [
                "2026-12-01 alice ONE_TIME_CHARGE", "2026-12-01 bob ONE_TIME_CHARGE", "2026-12-01 bob REVOKE",
                "2026-12-01 bob REVOKE",
            ])
    }

    @Test func `a member's transaction offers what does not need the purchaser`() throws {
        try store.join("bob", familyOf: "alice")
        let bought = try buy(Self.premium)
        let shared = try #require(try store.history(of: "bob").last).transactionIdentifier
        #expect(try store.listedTransaction(shared).actions == [.revokeFamilySharing, .delete])
        #expect(try store.listedTransaction(bought).actions.contains(.share))
        for action in [TransactionAction.expire, .turnAutoRenewOff, .changeSeats, .forceRenewal, .refund] {
            #expect(throws: StoreError.self, "\(action)") { try store.perform(action, on: shared) }
        }
        #expect(throws: StoreError.self) { _ = try store.share(bought, with: "bob") }
        #expect(throws: StoreError.self) { _ = try store.share(shared, with: "carol") }
        // Without a family, one purchase is shared with anybody.
        #expect(try store.sale(try store.share(bought, with: "carol")).ownership == .familyShared)
    }

    @Test func `a subscription with seats is shared with the family, too, and both kinds of members follow it`() throws
    {
        let team = try TestTeam(#", "multiSeat": {}"#, isShareable: true)
        let store = team.store
        func members() throws -> [String] {
            try ["bob", "carol"].map { account in
                let states = try store.subscriptions(of: account).map { "\($0.ownership.rawValue) \($0.status)" }
                return "\(account) \(try store.history(of: account).count) \(states.joined(separator: ", "))"
            }
        }
        try store.join("bob", familyOf: "alice")
        let bought = try team.buy(2)
        let carols = try store.acceptInvitation(to: bought, by: "carol")
        // A family member can have a seat besides.
        try store.acceptInvitation(to: bought, by: "bob")
        #expect(throws: StoreError.self) { try store.acceptInvitation(to: bought, by: "dora") }
        #expect(try members() == ["bob 2 FAMILY_SHARED active, ASSIGNED active", "carol 1 ASSIGNED active"])
        try store.forceRenewal(of: bought)
        #expect(try members() == ["bob 4 FAMILY_SHARED active, ASSIGNED active", "carol 2 ASSIGNED active"])
        try store.leaveFamily("bob")
        try store.endSeat(carols)
        #expect(try members() == ["bob 4 FAMILY_SHARED revoked, ASSIGNED active", "carol 2 ASSIGNED revoked"])
        try store.join("bob", familyOf: "alice")
        #expect(try members() == ["bob 5 FAMILY_SHARED active, ASSIGNED active", "carol 2 ASSIGNED revoked"])
        let present = try #require(try store.history(of: "alice").last).transactionIdentifier
        try store.refund(present)
        #expect(try members() == ["bob 5 FAMILY_SHARED revoked, ASSIGNED revoked", "carol 2 ASSIGNED revoked"])
        // The reversal brings back what the family shares.
        try store.reverseRefund(of: present)
        #expect(try members() == ["bob 5 FAMILY_SHARED active, ASSIGNED revoked", "carol 2 ASSIGNED revoked"])
        try store.delete(bought)
        #expect(try members() == ["bob 0 ", "carol 0 "])
    }

    @Test func `people join one family, and leave one`() throws {
        for member in ["bob", "carol", "dora", "eli", "finn"] { try store.join(member, familyOf: "alice") }
        for (member, other) in [("gus", "bob"), ("bob", "gus"), ("gus", "gus"), ("bob", "alice")] {
            #expect(throws: StoreError.self, "\(member)") { try store.join(member, familyOf: other) }
        }
        #expect(throws: StoreError.accountInvalid("")) { try store.join("", familyOf: "alice") }
        #expect(throws: StoreError.self) { try store.leaveFamily("gus") }
        try store.leaveFamily("carol")
        try store.join("gus", familyOf: "bob")
        #expect(try store.family(of: "gus")?.members == ["bob", "dora", "eli", "finn", "gus"])
        _ = try store.reset()
        #expect(try store.family(of: "alice") == nil)
    }
}
