import AppStore
import Catalog
import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The items and the state of a commitment at a service beside the store, from its notifications.
@Suite struct CommitmentEntitlementTests {
    let garden: TestGarden
    let alice: User
    let service: EntitlementService
    var store: Store { garden.store }

    init() async throws {
        garden = try TestGarden()
        alice = try #require(User(name: "alice"))
        service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(),
            ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: garden.store.clock)
        _ = try store.update { $0.storefront = "DEU" }
    }

    private func buy() async throws -> String {
        let bought = try garden.buy("garden.basic.yearly", billingPlanType: .monthly)
        _ = try await service.redeem(Array(try store.signedTransaction(bought.identifier).utf8), for: alice)
        return try #require(bought.purchase).transactionIdentifier
    }

    /// The items and the subscription on a day, after all notifications so far have arrived.
    private func line(on day: String) async throws -> String {
        try garden.advance(to: "\(day)T12:00:00Z")
        for notification in try store.notifications() {
            _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
        }
        let items = try await service.items(of: alice).map(\.item.description).filter { $0 != "bed 0" }
        let status = try #require(try await service.subscriptions(of: alice).first)
        let words: [String?] = [
            day, items.joined(separator: ", "), "\(status.state)", status.renews == true ? "renews" : "ends",
            status.until.map { String($0.rfc3339.prefix(10)) }, status.mayRenew ? "charged" : nil,
            status.nextProductIdentifier, status.expirationReason.map { "\($0)" },
        ]
        return words.compactMap(\.self).joined(separator: " | ")
    }

    @Test func `a cancelled commitment grants its item for all months that are charged`() async throws {
        let first = try await buy()
        var lines = [try await line(on: "2026-11-15"), try await line(on: "2026-12-15")]
        try store.setAutoRenew(false, of: first)
        for day in ["2026-12-16", "2027-01-15", "2027-06-15", "2027-10-15", "2027-11-15"] {
            lines.append(try await line(on: day))
        }
        #expect(
            lines == [
                "2026-11-15 | plus 1 | active | renews | 2026-11-30 | charged | garden.basic.yearly",
                "2026-12-15 | plus 1 | active | renews | 2026-12-31 | charged | garden.basic.yearly",
                "2026-12-16 | plus 1 | willNotRenew | ends | 2026-12-31 | charged",
                "2027-01-15 | plus 1 | willNotRenew | ends | 2027-01-31 | charged",
                "2027-06-15 | plus 1 | willNotRenew | ends | 2027-06-30 | charged",
                "2027-10-15 | plus 1 | willNotRenew | ends | 2027-10-31",
                "2027-11-15 |  | expired | ends | 2027-10-31 | customerCancelled",
            ])
    }

    @Test func `a charge that fails takes the item until it succeeds, or for good after ninety days`() async throws {
        let first = try await buy()
        _ = try store.update {
            $0.shouldEnterBillingRetryOnRenewal = true
            $0.isBillingGracePeriodEnabled = true
        }
        var lines = [try await line(on: "2026-12-01"), try await line(on: "2027-01-15")]
        try store.resolveBillingIssue(of: first)
        for day in ["2027-01-16", "2027-02-16", "2027-05-15", "2027-05-17"] { lines.append(try await line(on: day)) }
        #expect(
            lines == [
                "2026-12-01 |  | billingRetry | renews | 2026-11-30 | charged | garden.basic.yearly",
                "2027-01-15 |  | billingRetry | renews | 2026-11-30 | charged | garden.basic.yearly",
                "2027-01-16 | plus 1 | active | renews | 2027-02-15 | charged | garden.basic.yearly",
                "2027-02-16 |  | billingRetry | renews | 2027-02-15 | charged | garden.basic.yearly",
                // Without a commitment, Apple would have stopped after sixty days.
                "2027-05-15 |  | billingRetry | renews | 2027-02-15 | charged | garden.basic.yearly",
                "2027-05-17 |  | expired | ends | 2027-02-15 | billingError",
            ])
    }

    @Test func `a change waits for the end of the commitment, and an upgrade does not`() async throws {
        _ = try await buy()
        var lines = [try await line(on: "2026-12-15")]
        try garden.buy("garden.basic.monthly")
        for day in ["2027-10-15", "2027-11-15"] { lines.append(try await line(on: day)) }
        try garden.buy("garden.basic.yearly", billingPlanType: .monthly)
        lines.append(try await line(on: "2027-12-15"))
        try garden.buy("garden.premium.monthly")
        lines.append(try await line(on: "2027-12-16"))
        #expect(
            lines == [
                "2026-12-15 | plus 1 | active | renews | 2026-12-31 | charged | garden.basic.yearly",
                "2027-10-15 | plus 1 | active | renews | 2027-10-31 | charged | garden.basic.monthly",
                "2027-11-15 | plus 1 | active | renews | 2027-11-30 | charged | garden.basic.monthly",
                "2027-12-15 | plus 1 | active | renews | 2027-12-31 | charged | garden.basic.yearly",
                "2027-12-16 | plus 2 | active | renews | 2028-01-15 | charged | garden.premium.monthly",
            ])
    }
}
