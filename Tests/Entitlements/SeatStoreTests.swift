import AppStore
import Catalog
import Entitlements
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The item of a subscription with seats at a service beside the store, from the store's notifications.
@Suite struct SeatStoreTests {
    let garden: TestGarden
    let alice: User
    let bob: User
    let service: EntitlementService
    var store: Store { garden.store }

    init() throws {
        garden = try TestGarden()
        alice = try #require(User(name: "alice"))
        bob = try #require(User(name: "bob"))
        service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(),
            ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: garden.store.clock)
    }

    /// Buys seats, and redeems them.
    ///
    /// - Returns: The transaction identifier.
    private func buy(_ quantity: Int) async throws -> String {
        let bought = try garden.buy("garden.premium.monthly", quantity: quantity)
        _ = try await service.redeem(Array(try store.signedTransaction(bought.identifier).utf8), for: alice)
        return try #require(bought.purchase).transactionIdentifier
    }

    /// The items, and the state of the subscription with its end, after all notifications so far have arrived.
    private func line(of user: User? = nil) async throws -> String {
        let user = user ?? alice
        for notification in try store.notifications() {
            _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
        }
        let items = try await service.items(of: user).map(\.item.description).filter { $0 != "bed 0" }
        let status = try #require(try await service.subscriptions(of: user).first)
        return "\(items.joined(separator: ", ")) | \(status.state) | \(status.until?.rfc3339.prefix(10) ?? "-")"
    }

    @Test func `added seats and fewer seats leave the purchaser's item as it is`() async throws {
        let first = try await buy(3)
        var lines = [try await line()]
        try garden.advance(to: "2026-11-15T12:00:00Z")
        try store.changeSeats(of: first, to: 5)
        lines.append(try await line())
        try store.changeSeats(of: first, to: 2)
        lines.append(try await line())
        try garden.advance(to: "2026-12-01T12:00:00Z")
        lines.append(try await line())
        #expect(
            lines == [
                "plus 2 | active | 2026-11-30", "plus 2 | active | 2026-11-30", "plus 2 | active | 2026-11-30",
                "plus 2 | active | 2026-12-31",
            ])
        let kept = try await service.transactions(of: alice, before: nil, limit: 9)
        #expect(kept.map(\.quantity).sorted() == [2, 2, 3])
    }

    @Test func `the item stays until the seats of all transactions of the period are refunded`() async throws {
        let first = try await buy(3)
        try garden.advance(to: "2026-11-10T12:00:00Z")
        try store.changeSeats(of: first, to: 5)
        let added = try #require(try store.history(of: "alice").last).transactionIdentifier
        var values = TransactionAction.Parameters()
        values.refundedSeats = 1
        try store.perform(.refund, values, on: added)
        var items = [try await line().prefix(6)]
        try store.refund(first)
        items.append(try await line().prefix(6))
        #expect(try store.subscriptions(of: "alice").map(\.quantity) == [1])
        try store.refund(added)
        items.append(try await line().prefix(6))
        #expect(items == ["plus 2", "plus 2", " | rev"])
    }

    /// Gives a seat of a purchase to bob, who redeems it.
    ///
    /// - Returns: The transaction identifier.
    private func join(_ bought: String) async throws -> String {
        let seat = try store.acceptInvitation(to: bought, by: "bob")
        _ = try await service.redeem(Array(try store.signedTransaction(of: seat).utf8), for: bob)
        return seat
    }

    @Test func `a member owns the item until the subscription of the purchaser ends`() async throws {
        let bought = try await buy(3)
        _ = try await join(bought)
        var lines = [try await line(of: bob)]
        #expect(try await service.explanation(of: Item(collection: "plus", number: 2), for: bob).cause == .assigned)
        try garden.advance(to: "2026-12-01T12:00:00Z")
        lines.append(try await line(of: bob))
        try store.setAutoRenew(false, of: bought)
        try garden.advance(to: "2027-01-01T12:00:00Z")
        lines.append(try await line(of: bob))
        #expect(
            lines == ["plus 2 | active | 2026-11-30", "plus 2 | active | 2026-12-31", " | expired | 2026-12-31"])
    }

    @Test func `the end of a seat takes the item from its member alone, and a refund of the purchase from both`()
        async throws
    {
        let bought = try await buy(3)
        let seat = try await join(bought)
        try store.endSeat(seat)
        #expect(try await line(of: bob).hasPrefix(" | rev"))
        #expect(try await line() == "plus 2 | active | 2026-11-30")
        try garden.advance(to: "2026-11-10T12:00:00Z")
        _ = try await join(bought)
        #expect(try await line(of: bob) == "plus 2 | active | 2026-11-30")
        try store.refund(bought)
        #expect(try await line(of: bob).hasPrefix(" | rev"))
        #expect(try await line().hasPrefix(" | rev"))
    }

    @Test func `a notification about a seat alone keeps the item for the member who redeems later`() async throws {
        let bought = try await buy(2)
        let seat = try store.acceptInvitation(to: bought, by: "bob")
        #expect(try await line() == "plus 2 | active | 2026-11-30")
        #expect(try await service.items(of: bob).allSatisfy { $0.item.collection != "plus" })
        try garden.advance(to: "2026-12-01T12:00:00Z")
        #expect(try await line() == "plus 2 | active | 2026-12-31")
        _ = try await service.redeem(Array(try store.signedTransaction(of: seat).utf8), for: bob)
        #expect(try await line(of: bob) == "plus 2 | active | 2026-12-31")
    }
}
