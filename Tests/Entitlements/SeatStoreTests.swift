import AppStore
import Catalog
import Features
import Ledger
import Proofs
import TestSupport
import Testing

/// The item of a subscription with seats at a service beside the store, from the store's notifications.
@Suite struct SeatStoreTests {
    let garden: TestGarden
    let alice: User
    let service: EntitlementService
    var store: Store { garden.store }

    init() throws {
        garden = try TestGarden()
        alice = try #require(User(name: "alice"))
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
    private func line() async throws -> String {
        for notification in try store.notifications() {
            _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
        }
        let items = try await service.items(of: alice).map(\.item.description).filter { $0 != "bed 0" }
        let status = try #require(try await service.subscriptions(of: alice).first)
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
}
