import AppStore
import Foundation
import Proofs
import TestSupport
import Testing

/// The time that a year of one customer's subscription takes. `RecordedYearTests` compares what it says.
@Suite struct SubscriptionYearTests {
    let garden: TestGarden
    var store: Store { garden.store }

    init() throws {
        garden = try TestGarden()
    }

    @Test func `a year with a billing issue, an upgrade and a refund takes less than a second`() throws {
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
        #expect(try store.notifications().count == 16)
    }

    /// The processor time of this thread, in seconds, because other tests run in parallel.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
