import AppStore
import Catalog
import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// A service beside a local App Store whose customers are at different times.
@Suite struct CustomerTimeTests {
    private static let premium = Item(collection: "plus", number: 2)

    let garden: TestGarden
    let service: EntitlementService
    private let kept = UserAnswers<[Item]>(upTo: 1 << 20) { $0.count * 100 }
    private var store: Store { garden.store }

    init() throws {
        garden = try TestGarden(start: "2026-10-10T12:00:00Z")
        service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(),
            ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: garden.store.clock)
    }

    /// The App Store account of a user, which has another name.
    private static func account(_ name: String) -> String { "\(name)@example.com" }

    private func user(_ name: String) throws -> User { try #require(User(name: name)) }

    /// Buys a product, and redeems it for the user of the account.
    private func redeem(_ product: String, for name: String) async throws -> (transaction: String, items: [Item]) {
        let bought = try garden.buy(product, account: Self.account(name))
        let proof = Array(try store.signedTransaction(bought.identifier).utf8)
        let redemption = try await service.redeem(proof, for: try user(name))
        return (try #require(bought.purchase).transactionIdentifier, redemption.items)
    }

    /// Buys subscriptions that do not renew.
    private func subscribeAndCancel(_ names: String...) async throws {
        var bought: [String] = []
        for name in names { bought.append(try await redeem("garden.premium.monthly", for: name).transaction) }
        garden.clock.advance(milliseconds: 60_000)
        for transaction in bought { try store.setAutoRenew(false, of: transaction) }
    }

    @discardableResult
    private func advance(_ name: String, days: Int64) throws -> Timestamp {
        try store.advance(.seconds(days * 86_400), of: Self.account(name))
    }

    /// Sends the store's notifications to the service, also those that it has.
    private func notify() async throws {
        for notification in try store.notifications() {
            _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
        }
    }

    private func owned(_ name: String) async throws -> OwnedItem? {
        try await service.items(of: try user(name)).first { $0.item == Self.premium }
    }

    private func hasKept(_ name: String) async throws -> Bool {
        try await service.answer(aboutItemsOf: try user(name), keptIn: kept) { items, _ in items.map(\.item) }.contains(
            Self.premium)
    }

    private func events(_ name: String) async throws -> [String] {
        let user = try user(name)
        return try await service.ledger.read { try $0.audit(of: user, after: 0, limit: 100) }.map {
            $0.entry.event.rawValue
        }
    }

    @Test func `a subscription renews and ends in the customer's time`() async throws {
        for name in ["alice", "bob"] { _ = try await redeem("garden.premium.monthly", for: name) }
        try advance("alice", days: 70)
        // The service has no statement about the renewals yet.
        #expect(try await owned("alice") == nil)
        try await notify()
        #expect(try await owned("alice")?.until?.rfc3339 == "2027-01-10T12:00:00Z")
        #expect(try await owned("bob")?.until?.rfc3339 == "2026-11-10T12:00:00Z")
        #expect(try await service.subscriptions(of: try user("alice")).first?.state.isOwned == true)
        let latest = try #require(try store.history(of: Self.account("alice")).last).transactionIdentifier
        try store.setAutoRenew(false, of: latest)
        try advance("alice", days: 30)
        try await notify()
        #expect(try await owned("alice") == nil)
        #expect(try await service.subscriptions(of: try user("alice")).first?.state.isOwned == false)
        #expect(try await owned("bob") != nil)
    }

    @Test func `a purchase of a customer who is ahead or behind is redeemed at the customer's time`() async throws {
        for name in ["alice", "bob"] { _ = try await redeem("garden.gate", for: name) }
        let ahead = try advance("alice", days: 365)
        try advance("bob", days: 1)
        try garden.advance(to: "2027-03-01T12:00:00Z")
        for (name, time) in [("alice", ahead), ("bob", garden.clock.now().adding(days: 1))] {
            #expect(try await redeem("garden.premium.monthly", for: name).items.contains(Self.premium))
            #expect(try await owned(name)?.since == time)
            #expect(try await service.now(of: try user(name)) == time)
            let newest = try await service.transactions(of: try user(name), before: nil, limit: 1).first
            #expect(newest?.redeemedAt == time)
        }
        // A customer without an own clock has the store's time.
        _ = try await redeem("garden.premium.monthly", for: "carol")
        #expect(try await owned("carol")?.since == store.now)
        #expect(try await service.now(of: try user("carol")) == store.now)
    }

    @Test func `a kept answer does not outlive a moved clock`() async throws {
        for name in ["alice", "bob"] {
            _ = try await redeem("garden.premium.monthly", for: name)
            // An answer is kept from the second on.
            for _ in 1...3 { #expect(try await hasKept(name)) }
        }
        try advance("alice", days: 40)
        #expect(try await !hasKept("alice"))
        #expect(try await hasKept("bob"))
        // The store's clock moves the others alone.
        _ = try store.reset()
        #expect(try await hasKept("alice"))
        _ = try store.advance(seconds: 40 * 86_400)
        #expect(try await !hasKept("alice"))
        #expect(try await !hasKept("bob"))
    }

    @Test func `an end is recorded when it comes in the customer's time`() async throws {
        try await subscribeAndCancel("alice", "bob")
        try await notify()
        try advance("alice", days: 40)
        try await service.recordDueStates()
        #expect(try await events("alice").last == "autoRenewDisabled")
        for customer in service.customers { try await service.recordDueStates(of: customer) }
        #expect(try await events("alice").last == "expired")
        #expect(try await events("bob").last == "autoRenewDisabled")
        _ = try store.advance(seconds: 40 * 86_400)
        try await service.recordDueStates()
        #expect(try await events("bob").last == "expired")
        #expect(try await events("alice").count { $0 == "expired" } == 1)
    }

    @Test func `a customer who is behind keeps what has ended at the store's time`() async throws {
        try await subscribeAndCancel("alice", "bob")
        try advance("alice", days: 1)
        _ = try store.advance(seconds: 40 * 86_400)
        try await notify()
        try await service.recordDueStates()
        for customer in service.customers { try await service.recordDueStates(of: customer) }
        #expect(try await owned("alice") != nil)
        #expect(try await owned("bob") == nil)
        #expect(try await events("alice").last == "autoRenewDisabled")
        #expect(try await events("bob").last == "expired")
    }
}
