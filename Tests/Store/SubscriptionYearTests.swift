import AppStore
import Foundation
import Proofs
import TestSupport
import Testing

/// A year of one customer's subscription, as notifications report it.
@Suite struct SubscriptionYearTests {
    let garden: TestGarden
    var store: Store { garden.store }

    init() throws {
        garden = try TestGarden()
    }

    @Test func `a year has a trial, a billing issue, an upgrade, a refund and an end`() throws {
        let start = Self.processorTime()
        let first = try #require(try garden.buy("garden.basic.monthly").purchase).transactionIdentifier
        try garden.advance(to: "2027-01-01T12:00:00Z")
        _ = try store.update {
            $0.shouldEnterBillingRetryOnRenewal = true
            $0.isBillingGracePeriodEnabled = true
        }
        try garden.advance(to: "2027-01-10T12:00:00Z")
        _ = try store.update { $0.shouldEnterBillingRetryOnRenewal = false }
        try store.resolveBillingIssue(of: first)
        try garden.advance(to: "2027-02-20T12:00:00Z")
        try garden.buy("garden.premium.monthly")
        try garden.advance(to: "2027-06-01T12:00:00Z")
        let latest = try #require(try store.history(of: "alice").last).transactionIdentifier
        try store.refund(latest, reason: .refundedDueToIssue)
        try garden.advance(to: "2027-06-10T12:00:00Z")
        try garden.buy("garden.premium.monthly")
        try garden.advance(to: "2027-08-15T12:00:00Z")
        try store.setAutoRenew(false, of: first)
        try garden.advance(to: "2027-10-31T12:00:00Z")
        #expect(Self.processorTime() - start < 1)

        let told = try garden.notifications().map(line)
        let expected = [
            "2026-10-31 SUBSCRIBED INITIAL_BUY | garden.basic.monthly 0 until 2026-11-07 FREE_TRIAL | 1 renews 2026-11-07 4990",
            "2026-11-07 DID_RENEW | garden.basic.monthly 4990 until 2026-12-07 | 1 renews 2026-12-07 4990",
            "2026-12-07 DID_RENEW | garden.basic.monthly 4990 until 2027-01-07 | 1 renews 2027-01-07 4990",
            "2027-01-07 DID_FAIL_TO_RENEW GRACE_PERIOD | garden.basic.monthly 4990 until 2027-01-07 | 4 renews 2027-01-07 4990 retry grace 2027-01-23 intent 2",
            "2027-01-10 DID_RENEW BILLING_RECOVERY | garden.basic.monthly 4990 until 2027-02-07 | 1 renews 2027-02-07 4990",
            "2027-02-07 DID_RENEW | garden.basic.monthly 4990 until 2027-03-07 | 1 renews 2027-03-07 4990",
            "2027-02-20 DID_CHANGE_RENEWAL_PREF UPGRADE | garden.premium.monthly 9990 until 2027-03-20 | 1 renews 2027-03-20 9990",
            "2027-03-20 DID_RENEW | garden.premium.monthly 9990 until 2027-04-20 | 1 renews 2027-04-20 9990",
            "2027-04-20 DID_RENEW | garden.premium.monthly 9990 until 2027-05-20 | 1 renews 2027-05-20 9990",
            "2027-05-20 DID_RENEW | garden.premium.monthly 9990 until 2027-06-20 | 1 renews 2027-06-20 9990",
            "2027-06-01 REFUND | garden.premium.monthly 9990 until 2027-06-20 revoked 2027-06-01 | 5 ended",
            "2027-06-10 SUBSCRIBED RESUBSCRIBE | garden.premium.monthly 9990 until 2027-07-10 | 1 renews 2027-07-10 9990",
            "2027-07-10 DID_RENEW | garden.premium.monthly 9990 until 2027-08-10 | 1 renews 2027-08-10 9990",
            "2027-08-10 DID_RENEW | garden.premium.monthly 9990 until 2027-09-10 | 1 renews 2027-09-10 9990",
            "2027-08-15 DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED | garden.premium.monthly 9990 until 2027-09-10 | 1 ends 2027-09-10 intent 1",
            "2027-09-10 EXPIRED VOLUNTARY | garden.premium.monthly 9990 until 2027-09-10 | 2 ended intent 1",
        ]
        for (told, expected) in zip(told, expected) { #expect(told == expected) }
        #expect(told.count == expected.count)
    }

    /// A notification as one line: date, type, subtype, transaction, state and renewal.
    private func line(_ notification: ResponseBodyV2DecodedPayload) throws -> String {
        guard case .object(let data)? = notification.fields["data"] else { return "no data" }
        guard case .string(let sale)? = data["signedTransactionInfo"],
            case .string(let told)? = data["signedRenewalInfo"]
        else { return "no signed parts" }
        let (transaction, renewal) = (try garden.transaction(sale), try garden.renewalInfo(told))
        #expect(transaction.originalTransactionId == renewal.originalTransactionId)
        #expect(transaction.productId == renewal.facts.text(.productId))
        let (sold, stated) = (transaction.facts, renewal.facts)
        var words = [
            Self.day(notification.signedDate), notification.notificationType,
            notification.subtype, "|", transaction.productId, sold.integer(.price).map { String($0) },
            "until", Self.day(sold.date(.expiresDate)), sold.text(.offerDiscountType),
        ]
        if let date = transaction.revocationDate { words += ["revoked", Self.day(date)] }
        if case .number(let status)? = data["status"] { words += ["|", status.text] }
        if let date = stated.date(.renewalDate) {
            words += [stated.integer(.autoRenewStatus) == 1 ? "renews" : "ends", Self.day(date)]
        } else {
            words.append("ended")
        }
        words.append(stated.integer(.renewalPrice).map { String($0) })
        if stated.bool(.isInBillingRetryPeriod) == true { words.append("retry") }
        if let date = stated.date(.gracePeriodExpiresDate) { words += ["grace", Self.day(date)] }
        if let intent = stated.integer(.expirationIntent) { words += ["intent", String(intent)] }
        return words.compactMap(\.self).joined(separator: " ")
    }

    private static func day(_ date: Timestamp?) -> String { String(date?.rfc3339.prefix(10) ?? "-") }

    /// The processor time of this thread, in seconds, because other tests run in parallel.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
