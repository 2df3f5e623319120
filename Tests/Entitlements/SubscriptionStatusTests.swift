import AppStore
import Catalog
import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The states of simulated subscriptions, derived from notifications and proofs.
@Suite struct SubscriptionStatusTests {
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
    }

    private func buy(_ product: String) async throws -> String {
        let bought = try garden.buy(product)
        _ = try await service.redeem(Array(try store.signedTransaction(bought.identifier).utf8), for: alice)
        return try #require(bought.purchase).transactionIdentifier
    }

    /// The state of the only subscription, after all notifications so far have arrived.
    private func status() async throws -> PurchaseStatus {
        for notification in try store.notifications() {
            _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
        }
        let subscriptions = try await service.subscriptions(of: alice)
        #expect(subscriptions.count == 1)
        return try #require(subscriptions.first)
    }

    @Test func `notifications on demand are recorded, and change nothing`() async throws {
        let transaction = try await buy("garden.basic.monthly")
        let before = try await status()
        let items = try await service.items(of: alice).map(\.item)
        for demanded in NotificationOnDemand.allCases {
            let sent = try store.notify(demanded, about: transaction, or: "alice")
            let outcome = try await service.receive(notification: Array(sent.signedPayload.utf8))
            #expect(outcome == .recorded, "\(demanded.name)")
        }
        let after = try await status()
        #expect((after.state, after.until, after.renews) == (before.state, before.until, before.renews))
        #expect(try await service.items(of: alice).map(\.item) == items)
    }

    @Test func `a trial turns into a paid period, and ends when the customer turns renewal off`() async throws {
        let transaction = try await buy("garden.basic.monthly")
        var status = try await status()
        #expect(status.state == .trial)
        #expect(status.renews == true)
        #expect(status.since == store.now)
        try garden.advance(to: try #require(status.until).rfc3339)
        status = try await self.status()
        #expect(status.state == .active)
        // Of two statements signed in the same millisecond, neither is later.
        _ = try store.advance(seconds: 1)
        try store.setAutoRenew(false, of: transaction)
        status = try await self.status()
        #expect(status.state == .willNotRenew)
        #expect(status.renews == false)
        try garden.advance(to: try #require(status.until).rfc3339)
        status = try await self.status()
        #expect(status.state == .expired)
        #expect(status.expirationReason == .customerCancelled)
    }

    @Test(arguments: [true, false])
    func `a renewal that cannot be charged leads to billing retry`(hasGracePeriod: Bool) async throws {
        _ = try await buy("garden.premium.monthly")
        _ = try store.update {
            $0.shouldEnterBillingRetryOnRenewal = true
            $0.isBillingGracePeriodEnabled = hasGracePeriod
        }
        try garden.advance(to: try #require(try await status().until).rfc3339)
        var status = try await status()
        #expect(status.state == (hasGracePeriod ? .gracePeriod : .billingRetry))
        if hasGracePeriod {
            try garden.advance(to: try #require(status.until).rfc3339)
            status = try await self.status()
            #expect(status.state == .billingRetry)
        }
        #expect(status.renews == true)
        _ = try store.advance(seconds: 61 * 86_400)
        status = try await self.status()
        #expect(status.state == .expired)
        #expect(status.expirationReason == .billingError)
    }

    @Test func `a refund revokes, and the team does`() async throws {
        let transaction = try await buy("garden.premium.monthly")
        try store.refund(transaction)
        #expect(try await status().state == .revoked)
        #expect(try await service.subscriptions(of: try #require(User(name: "bob"))).isEmpty)
    }

    @Test func `a purchase that does not renew is no subscription`() async throws {
        _ = try await buy("garden.season")
        _ = try await buy("garden.gate")
        #expect(try await service.subscriptions(of: alice).isEmpty)
    }
}
