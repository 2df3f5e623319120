import AppStore
import Proofs
import TestSupport
import Testing

/// Seats by Apple's invitation: the members' own transactions, and their notifications.
///
/// A line has the date and the notification, then the account with its transaction, and the status of its subscription.
@Suite struct SeatMemberTests {
    let garden: TestGarden
    var store: Store { garden.store }

    private static let premium = "garden.premium.monthly"

    init() throws { garden = try TestGarden() }

    /// Buys seats for alice, and gives some of them to members.
    ///
    /// - Returns: The transactions of the purchase and of the members.
    private func group(of quantity: Int, _ members: String...) throws -> [String] {
        let bought = try #require(try garden.buy(Self.premium, quantity: quantity).purchase).transactionIdentifier
        return try [bought] + members.map { try store.acceptInvitation(to: bought, by: $0) }
    }

    private var lines: SubscriptionLines { SubscriptionLines(garden: garden, state: state) }

    private func state(_ sale: String, _ status: String, _ renewal: String) throws -> String {
        let transaction = try garden.transaction(sale)
        #expect(try garden.renewalInfo(renewal).originalTransactionId == transaction.originalTransactionId)
        let (sold, account) = (transaction.facts, try store.sale(transaction.transactionId).account)
        var words = [
            account, sold.text(.inAppOwnershipType) ?? "-", "\(transaction.quantity) of \(transaction.productId)",
        ]
        words += ["until", SubscriptionLines.day(sold.date(.expiresDate))]
        if let type = sold.text(.revocationType) { words.append(type) }
        return (words + ["|", status]).joined(separator: " ")
    }

    @Test func `a member has an own transaction, which renews with the purchaser's`() throws {
        let sold = try group(of: 3, "bob")
        try garden.advance(to: "2026-12-01T12:00:00Z")
        #expect(
            try lines.told(after: 1) == [
                "2026-10-31 SUBSCRIBED INITIAL_BUY | bob ASSIGNED 3 of \(Self.premium) until 2026-11-30 | 1",
                "2026-11-30 DID_RENEW | alice PURCHASED 3 of \(Self.premium) until 2026-12-31 | 1",
                "2026-11-30 DID_RENEW | bob ASSIGNED 3 of \(Self.premium) until 2026-12-31 | 1",
            ])
        #expect(try lines.answered(of: "bob") == SubscriptionLines.state(of: try lines.told().last))
        let periods = try store.history(of: "bob")
        #expect(Set(periods.map(\.originalTransactionIdentifier)) == [sold[1]])
        // The seats and the prices of the purchaser are repeated, but nothing is paid.
        #expect(periods.map(\.seats) == (try store.history(of: "alice").map(\.seats)))
        #expect(periods.map(\.price.milliunits) == [9990, 9990] && periods.map(\.amount.milliunits) == [0, 0])
        #expect(try store.subscriptions(of: "bob").first?.renewalPrice == nil)
        // A higher price is announced to the purchaser alone.
        try store.requestPriceIncrease(of: sold[0], to: 12_990, needsConsent: true)
        let announced = try ["alice", "bob"].map { try store.subscriptions(of: $0).first?.priceIncrease?.price }
        #expect(announced == [Price(milliunits: 12_990, currency: "USD"), nil])
        // The member's app gets the first transaction from its queue, and later ones as renewals.
        #expect(
            try store.transactions(account: "bob").compactMap(\.transaction.purchase?.transactionIdentifier)
                == [sold[1]])
    }

    @Test func `a seat that ends is free for another member`() throws {
        let sold = try group(of: 2, "bob", "carol")
        #expect(
            throws: StoreError.invalidAction("The subscription \(sold[0]) has no free seat: members have all 2.")
        ) { try store.acceptInvitation(to: sold[0], by: "dave") }
        try store.endSeat(sold[1])
        let seat = try store.acceptInvitation(to: sold[0], by: "dave")
        try store.endSeat(seat)
        let again = try store.acceptInvitation(to: sold[0], by: "bob")
        #expect(
            try lines.told(after: 3) == [
                "2026-10-31 REVOKE | bob ASSIGNED 2 of \(Self.premium) until 2026-11-30 ASSIGNMENT_REVOKE | 5",
                "2026-10-31 SUBSCRIBED INITIAL_BUY | dave ASSIGNED 2 of \(Self.premium) until 2026-11-30 | 1",
                "2026-10-31 REVOKE | dave ASSIGNED 2 of \(Self.premium) until 2026-11-30 ASSIGNMENT_REVOKE | 5",
                "2026-10-31 SUBSCRIBED RESUBSCRIBE | bob ASSIGNED 2 of \(Self.premium) until 2026-11-30 | 1",
            ])
        #expect(try store.sale(again).originalTransactionIdentifier == sold[1])
        #expect(throws: StoreError.self) { try store.endSeat(seat) }
        // A deleted purchase leaves no seat behind, but a member's in another purchase.
        let other = try #require(try garden.buy(Self.premium, quantity: 2, account: "erin").purchase)
        try store.acceptInvitation(to: other.transactionIdentifier, by: "dave")
        try store.delete(sold[0])
        for member in ["bob", "carol"] { #expect(try store.history(of: member).isEmpty, "\(member)") }
        #expect(try store.subscriptions(of: "dave").map(\.status) == [.active])
    }

    @Test func `a refund of some seats takes those of the latest members, and a refund of all takes every one`() throws
    {
        let sold = try group(of: 3, "bob", "carol", "dave")
        var values = TransactionAction.Parameters()
        (values.refundedSeats, values.refundReason) = (1, .refundedDueToIssue)
        try store.perform(.refund, values, on: sold[0])
        try store.refund(sold[0], reason: .refundedDueToIssue)
        #expect(
            try lines.told(after: 4) == [
                "2026-10-31 REFUND SEATS | alice PURCHASED 3 of \(Self.premium) until 2026-11-30 | 1",
                "2026-10-31 REVOKE | dave ASSIGNED 3 of \(Self.premium) until 2026-11-30 ASSIGNMENT_REVOKE | 5",
                "2026-10-31 REFUND | alice PURCHASED 3 of \(Self.premium) until 2026-11-30 REFUND_FULL | 5",
                "2026-10-31 REVOKE | bob ASSIGNED 3 of \(Self.premium) until 2026-11-30 ASSIGNMENT_REVOKE | 5",
                "2026-10-31 REVOKE | carol ASSIGNED 3 of \(Self.premium) until 2026-11-30 ASSIGNMENT_REVOKE | 5",
            ])
        // Only the purchaser's transaction states refunded seats. A whole refund has the same reason for all.
        #expect(try sold.map { try store.sale($0).seats?.revokedQuantity } == [1, 0, 0, 0])
        #expect(
            try sold.map { try store.sale($0).revocation?.reason } == [
                .refundedDueToIssue, .refundedDueToIssue, .refundedDueToIssue, .refundedForOtherReason,
            ])
        // The reversal brings no member back.
        try store.reverseRefund(of: sold[0])
        #expect(try store.subscriptions(of: "bob").map(\.status) == [.revoked])
        #expect(try store.listedTransaction(sold[0]).actions.contains(.acceptInvitation))
    }

    @Test func `a renewal with fewer seats ends those of the latest members`() throws {
        let sold = try group(of: 3, "bob", "carol", "dave")
        try store.changeSeats(of: sold[0], to: 2)
        try garden.advance(to: "2026-12-01T12:00:00Z")
        #expect(
            try lines.told(after: 5) == [
                "2026-11-30 DID_RENEW | alice PURCHASED 2 of \(Self.premium) until 2026-12-31 | 1",
                "2026-11-30 DID_RENEW | bob ASSIGNED 2 of \(Self.premium) until 2026-12-31 | 1",
                "2026-11-30 DID_RENEW | carol ASSIGNED 2 of \(Self.premium) until 2026-12-31 | 1",
                "2026-11-30 EXPIRED VOLUNTARY | dave ASSIGNED 3 of \(Self.premium) until 2026-11-30 | 2",
            ])
    }

    @Test
    func
        `a charge that fails, its recovery and the end are told of each member, and a decision of the purchaser is not`()
        throws
    {
        let sold = try group(of: 2, "bob")
        try store.failRenewal(of: sold[0], hasGracePeriod: true)
        try store.resolveBillingIssue(of: sold[0])
        try store.setAutoRenew(false, of: sold[0])
        try store.expire(sold[0])
        #expect(
            try garden.notifications().dropFirst(2).map {
                [$0.notificationType, $0.subtype].compactMap(\.self).joined(separator: " ")
            } == [
                "DID_FAIL_TO_RENEW GRACE_PERIOD", "DID_FAIL_TO_RENEW GRACE_PERIOD", "DID_RENEW BILLING_RECOVERY",
                "DID_RENEW BILLING_RECOVERY", "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED", "EXPIRED VOLUNTARY",
                "EXPIRED VOLUNTARY",
            ])
        #expect(try store.subscriptions(of: "bob").map(\.status) == [.expired])
        // The purchaser who subscribes again invites the members again.
        try garden.buy(Self.premium, quantity: 2)
        #expect(try store.history(of: "bob").count == 2)
    }

    @Test func `an upgrade with seats takes the members along`() throws {
        let bought = try #require(try garden.buy("garden.basic.yearly", quantity: 2).purchase).transactionIdentifier
        let members = try ["bob", "carol"].map { try store.acceptInvitation(to: bought, by: $0) }
        try garden.buy(Self.premium, quantity: 2)
        #expect(try store.history(of: "bob").map(\.isUpgraded) == [true, false])
        #expect(try lines.told().last?.contains("DID_CHANGE_RENEWAL_PREF UPGRADE | carol ASSIGNED") == true)
        #expect(
            try members.map { try store.listedTransaction($0).subscription?.productIdentifier } == [
                Self.premium, Self.premium,
            ])
    }

    @Test func `a customer can have a seat besides an own subscription in the same group`() throws {
        let sold = try group(of: 2, "bob")
        try garden.buy("garden.basic.monthly", account: "bob")
        let answer = try store.readOrThrow { try $0.allSubscriptionStatuses(sold[1], statuses: []) }
        #expect(answer.data.map(\.lastTransactions.count) == [2])
        #expect(
            try store.history(of: "bob").map { "\($0.ownership.rawValue) \($0.productIdentifier)" } == [
                "ASSIGNED \(Self.premium)", "PURCHASED garden.basic.monthly",
            ])
        try store.delete(sold[0])
        #expect(try store.history(of: "bob").map(\.ownership) == [.purchased])
    }

    @Test func `what is refused about seats by invitation`() throws {
        let sold = try group(of: 2, "bob")
        #expect(throws: StoreError.self) { try store.acceptInvitation(to: sold[0], by: "alice") }
        #expect(throws: StoreError.self) { try store.acceptInvitation(to: sold[0], by: "bob") }
        #expect(throws: StoreError.self) { try store.acceptInvitation(to: sold[1], by: "carol") }
        #expect(throws: StoreError.self) { try store.setAutoRenew(false, of: sold[1]) }
        #expect(throws: StoreError.self) { try store.changeSeats(of: sold[1], to: 3) }
        #expect(throws: StoreError.self) { try store.refund(sold[1]) }
        #expect(throws: StoreError.self) { try store.endSeat(sold[0]) }
        let single = try #require(try garden.buy(Self.premium, account: "erin").purchase).transactionIdentifier
        #expect(
            throws: StoreError.invalidAction("The subscription \(single) has no seats to which Apple invites now.")
        ) { try store.acceptInvitation(to: single, by: "carol") }
        // The app's server invites to the seats of this one.
        let team = try TestTeam()
        let bought = try team.buy(3)
        #expect(throws: StoreError.self) { try team.store.acceptInvitation(to: bought, by: "bob") }
    }
}
