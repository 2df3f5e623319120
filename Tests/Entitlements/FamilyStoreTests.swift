import AppStore
import Catalog
import Entitlements
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The items of a family at a service beside the store: the same for notifications in either order.
@Suite struct FamilyStoreTests {
    let garden: TestGarden
    let service: EntitlementService
    var store: Store { garden.store }

    private static let premium = "garden.premium.monthly"

    init() throws {
        garden = try TestGarden(shareable: [Self.premium])
        service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(),
            ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: garden.store.clock)
    }

    /// Something that happens to the family of alice and bob, a day after the purchases.
    enum Event {
        case nothing, renewal, refunds, reversedRefunds, expiry, downgrade, memberLeaves, memberReturns, sharingEnds
    }

    private static let events: [(Event, alice: String, bob: String)] = [
        (.nothing, "gate 1, plus 2", "gate 1, plus 2"), (.renewal, "gate 1, plus 2", "gate 1, plus 2"),
        (.refunds, "", ""), (.expiry, "gate 1", "gate 1"), (.downgrade, "gate 1, plus 1", "gate 1"),
        // A reversed refund lets a subscription last until the end of its period.
        (.reversedRefunds, "gate 1, plus 2", "gate 1, plus 2"), (.memberLeaves, "gate 1, plus 2", ""),
        (.memberReturns, "gate 1, plus 2", "gate 1, plus 2"), (.sharingEnds, "gate 1, plus 2", "plus 2"),
    ]

    @Test(arguments: events, [false, true])
    func `the items of a family follow the purchaser, in whichever order notifications arrive`(
        event: (Event, alice: String, bob: String),
        isReversed: Bool
    ) async throws {
        try store.join("bob", familyOf: "alice")
        let gate = try #require(try garden.buy("garden.gate").purchase).transactionIdentifier
        let premium = try #require(try garden.buy(Self.premium).purchase).transactionIdentifier
        try await present()
        try wait()
        try play(event.0, gate: gate, premium: premium)
        try await present()
        let notifications = try store.notifications().map { Array($0.signedPayload.utf8) }
        for notification in isReversed ? notifications.reversed() : notifications {
            _ = try await service.receive(notification: notification)
        }
        #expect(try await items(of: "alice") == event.alice)
        #expect(try await items(of: "bob") == event.bob)
    }

    private func play(_ event: Event, gate: String, premium: String) throws {
        switch event {
        case .nothing: break
        case .renewal: try garden.advance(to: "2026-12-01T12:00:00Z")
        case .refunds, .reversedRefunds:
            for purchase in [gate, premium] { try store.refund(purchase) }
            guard event == .reversedRefunds else { return }
            try wait()
            for purchase in [gate, premium] { try store.reverseRefund(of: purchase) }
        case .expiry:
            try store.setAutoRenew(false, of: premium)
            try garden.advance(to: "2026-12-01T12:00:00Z")
        case .downgrade:
            try garden.buy("garden.basic.yearly")
            try garden.advance(to: "2026-12-01T12:00:00Z")
        case .memberLeaves: try store.leaveFamily("bob")
        case .memberReturns:
            try store.leaveFamily("bob")
            try wait()
            try store.join("bob", familyOf: "alice")
        case .sharingEnds:
            try store.revokeFamilySharing(of: try #require(try store.history(of: "bob").first).transactionIdentifier)
        }
    }

    private func wait() throws { _ = try store.advance(seconds: 86_400) }

    /// Presents what the payment queues have and Apple has not revoked, as the apps of alice and bob do.
    private func present() async throws {
        for queued in try store.transactions() {
            let identifier = try #require(queued.transaction.purchase).transactionIdentifier
            guard try store.sale(identifier).revocation == nil else { continue }
            let user = try #require(User(name: queued.account))
            _ = try await service.redeem(Array(try store.signedTransaction(of: identifier).utf8), for: user)
        }
    }

    private func items(of name: String) async throws -> String {
        try await service.items(of: try #require(User(name: name))).map(\.item.description).filter { $0 != "bed 0" }
            .sorted().joined(separator: ", ")
    }
}
