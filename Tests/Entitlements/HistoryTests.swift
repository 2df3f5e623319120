import AppStore
import Catalog
import Entitlements
import Foundation
import Ledger
import Proofs
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// The histories of users whose subscriptions the store simulates.
@Suite struct HistoryTests {
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

    private func recordNotifications() async throws {
        for notification in try store.notifications() {
            _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
        }
    }

    /// The events of the history with their dates.
    private func history() async throws -> [String] {
        try await service.ledger.read { try $0.audit(of: alice, after: 0, limit: 100) }.map {
            ([$0.entry.event.rawValue, $0.entry.happenedAt.rfc3339] + [$0.entry.reason].compactMap(\.self))
                .joined(separator: " ")
        }
    }

    private func end() async throws -> Timestamp {
        try #require(try await service.subscriptions(of: alice).first?.until)
    }

    @Test func `turned-off renewal and the end are recorded with their times, once`() async throws {
        let transaction = try await buy("garden.premium.monthly")
        let bought = store.now
        _ = try store.advance(seconds: 60)
        try store.setAutoRenew(false, of: transaction)
        let turnedOff = store.now
        try await recordNotifications()
        let end = try await end()
        // The App Store states nothing about the end. Only time passes.
        _ = try store.advance(seconds: end.secondsSince1970 - store.now.secondsSince1970 + 30)
        try await service.recordDueStates()
        try await service.recordDueStates()
        try await recordNotifications()
        let history = try await history()
        #expect(
            history.prefix(3) == [
                "granted \(bought.rfc3339)", "autoRenewDisabled \(turnedOff.rfc3339)",
                "expired \(end.rfc3339) customerCancelled",
            ])
        #expect(history.count == 3)
        let last = try await service.ledger.read { try $0.audit(of: alice, after: 0, limit: 9) }.last
        #expect(last?.entry.actor == .store(.appStore))
    }

    /// Two processes look at the same time, and one of them is started anew.
    @Test func `three days before the end of a subscription that does not renew, its end is told once`() async throws {
        let transaction = try await buy("garden.premium.monthly")
        _ = try store.advance(seconds: 60)
        try store.setAutoRenew(false, of: transaction)
        try await recordNotifications()
        let end = try await end()
        let notice = end.adding(days: -3)
        func processes() throws -> [EntitlementService] {
            try (0..<2).map { _ in
                EntitlementService(
                    apps: Apps(App(garden.catalog)), verifier: try garden.verifier(),
                    ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: garden.store.clock)
            }
        }
        func look(at moment: Timestamp) async throws -> [String] {
            _ = try store.advance(seconds: moment.secondsSince1970 - store.now.secondsSince1970)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for process in try processes() { group.addTask { _ = try await process.recordDueStates() } }
                try await group.waitForAll()
            }
            try await recordNotifications()
            return try await history().filter { $0.hasPrefix("endsSoon") }
        }
        #expect(try await look(at: notice.adding(seconds: -1)) == [])
        let told = ["endsSoon \(notice.rfc3339) \(end.rfc3339)"]
        for moment in [notice, notice.adding(seconds: 60), end.adding(seconds: -1), end.adding(seconds: 60)] {
            #expect(try await look(at: moment) == told, "\(moment.rfc3339)")
        }
        #expect(try await history().last == "expired \(end.rfc3339) customerCancelled")
        let entry = try await service.ledger.read { try $0.audit(of: alice, after: 0, limit: 9) }.map(\.entry).first {
            $0.event == .endsSoon
        }
        #expect(entry?.reference == transaction && entry?.subject == "garden.premium.monthly")
        #expect(entry?.actor == .store(.appStore))
    }

    @Test func `a process that does not accept an origin leaves its events to the service`() async throws {
        let transaction = try await buy("garden.premium.monthly")
        _ = try store.advance(seconds: 60)
        try store.setAutoRenew(false, of: transaction)
        try await recordNotifications()
        let end = try await end()
        _ = try store.advance(seconds: end.secondsSince1970 - store.now.secondsSince1970 + 30)
        let command = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(),
            ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: garden.store.clock,
            accepted: AcceptedOrigins([.appleProduction]))
        try await command.recordDueStates()
        #expect(try await history().last?.hasPrefix("autoRenewDisabled") == true)
        try await service.recordDueStates()
        #expect(try await history().last == "expired \(end.rfc3339) customerCancelled")
    }

    /// The end is stated, and dated to the end of the ninety days.
    @Test func `a cancelled commitment that cannot be charged has its history`() async throws {
        _ = try store.update { $0.storefront = "DEU" }
        let bought = try garden.buy("garden.basic.yearly", billingPlanType: .monthly)
        _ = try await service.redeem(Array(try store.signedTransaction(bought.identifier).utf8), for: alice)
        try garden.advance(to: "2026-12-15T12:00:00Z")
        try store.setAutoRenew(false, of: try #require(bought.purchase).transactionIdentifier)
        try await recordNotifications()
        _ = try store.update { $0.shouldEnterBillingRetryOnRenewal = true }
        for date in ["2027-01-15T12:00:00Z", "2027-03-15T12:00:00Z", "2027-04-15T12:00:00Z"] {
            try garden.advance(to: date)
            try await recordNotifications()
            try await service.recordDueStates()
        }
        #expect(
            try await history().filter { !$0.hasPrefix("granted") } == [
                "autoRenewDisabled 2026-12-15T12:00:00Z", "renewalFailed 2026-12-31T12:00:00Z",
                "expired 2027-03-31T12:00:00Z billingError",
            ])
    }

    @Test func `a failed renewal leads through the grace period to billing retry, without a statement`() async throws {
        _ = try await buy("garden.premium.monthly")
        _ = try store.update {
            $0.shouldEnterBillingRetryOnRenewal = true
            $0.isBillingGracePeriodEnabled = true
        }
        let paidUntil = try await end()
        try garden.advance(to: paidUntil.rfc3339)
        try await recordNotifications()
        let graceEnd = try await end()
        _ = try store.advance(seconds: graceEnd.secondsSince1970 - store.now.secondsSince1970 + 30)
        try await service.recordDueStates()
        let history = try await history()
        #expect(
            history.dropFirst() == [
                "gracePeriodBegan \(paidUntil.rfc3339)", "renewalFailed \(graceEnd.rfc3339)",
            ], "\(history)")
    }

    /// The statements after a grace period name none.
    @Test(arguments: [false, true])
    func `a grace period that is over stays, in whatever order its statements come`(isReversed: Bool) async throws {
        let transaction = try await buy("garden.premium.monthly")
        _ = try store.update {
            $0.shouldEnterBillingRetryOnRenewal = true
            $0.isBillingGracePeriodEnabled = true
        }
        let paidUntil = try #require(try store.sale(transaction).expiresDate)
        _ = try store.advance(seconds: paidUntil.secondsSince1970 - store.now.secondsSince1970 + 61 * 86_400)
        let notifications = try store.notifications()
        #expect(
            notifications.map(\.type) == [.subscribed, .didFailToRenew, .gracePeriodExpired, .expired])
        for notification in isReversed ? notifications.reversed() : notifications {
            _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
        }
        let status = try #require(try await service.subscriptions(of: alice).first)
        #expect(status.state == .expired && status.expirationReason == .billingError)
        #expect(status.until == paidUntil.adding(days: 16))
    }

    @Test(arguments: [false, true])
    func `late notifications of a subscription that renews report no end between them`(isReversed: Bool) async throws {
        let transaction = try await buy("garden.premium.monthly")
        _ = try store.advance(seconds: 100 * 86_400)
        let notifications = try store.notifications()
        for notification in isReversed ? notifications.reversed() : notifications {
            _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
        }
        try await service.recordDueStates()
        #expect(try await history().map { $0.prefix(7) } == ["granted", "granted", "granted", "granted"])
        // The last one is reported once.
        try store.setAutoRenew(false, of: transaction)
        let end = try await end()
        _ = try store.advance(seconds: 40 * 86_400)
        try await recordNotifications()
        try await service.recordDueStates()
        #expect(try await history().last == "expired \(end.rfc3339) customerCancelled")
        #expect(try await history().count { $0.hasPrefix("expired") } == 1)
    }

    @Test func `a purchase that the team has revoked does not expire again`() async throws {
        let transaction = try await buy("garden.season")
        _ = try await service.change(
            .revoke(reason: "fraud"), ofTransaction: transaction, origin: nil, of: alice, by: "key")
        _ = try store.advance(seconds: 400 * 86_400)
        try await service.recordDueStates()
        #expect(try await history().count == 2)
        _ = try await service.change(.reinstate(), ofTransaction: transaction, origin: nil, of: alice, by: "key")
        #expect(try await history().last?.hasPrefix("expired") == true)
    }
}
