import AppStore
import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing

/// The times of delivery attempts.
@Suite struct NotificationDeliveryTests {
    private func garden(_ environment: AppStoreEnvironment = .sandbox) throws -> TestGarden {
        let garden = try TestGarden(environment: environment)
        _ = try garden.store.update { $0.notificationsURL = URL(string: "http://127.0.0.1:1/apple") }
        return garden
    }

    /// Records the next of the results for each due notification.
    private func send(_ store: Store, _ results: SendAttemptResult...) throws -> [UUID] {
        var sent: [UUID] = []
        var results = results[...]
        while let result = results.popFirst(), let delivery = try store.nextDelivery() {
            sent.append(delivery.notificationUUID)
            try store.record(result, of: delivery)
        }
        return sent
    }

    @Test func `production retries five times, on the schedule of Apple`() throws {
        let garden = try garden(.production)
        try garden.buy("garden.seeds")
        let begun = garden.store.now
        for hours in [0, 1, 12, 24, 48, 72] {
            _ = try garden.store.advance(seconds: Int64(hours) * 3600)
            #expect(try send(garden.store, .socketIssue, .success).count == 1, "after \(hours) hours")
            #expect(try garden.store.nextDelivery() == nil)
        }
        _ = try garden.store.advance(seconds: 1000 * 3600)
        #expect(try garden.store.nextDelivery() == nil)
        let attempts = try #require(try garden.store.notifications().first).sendAttempts
        #expect(
            attempts.map { ($0.date.secondsSince1970 - begun.secondsSince1970) / 3600 } == [0, 1, 13, 37, 85, 157])
    }

    @Test func `only a process that delivers makes the file of the lock`() async throws {
        let garden = try garden()
        let lockFile = garden.folder.folder("store").appending(path: "store.sqlite.delivery").path
        try garden.buy("garden.seeds")
        // The clock asks for a process that delivers the notification.
        _ = try await garden.store.advance(try #require(TimeStep("1d")), deliveringWithin: Store.longestDelivery)
        #expect(!FileManager.default.fileExists(atPath: lockFile))
        #expect(garden.store.beginDelivering() != nil)
        #expect(FileManager.default.fileExists(atPath: lockFile))
    }

    @Test func `an overdue attempt has its own date`() throws {
        let garden = try garden(.production)
        try garden.buy("garden.seeds")
        _ = try garden.store.advance(seconds: 14 * 3600)
        #expect(try send(garden.store, .timedOut, .timedOut, .success, .success).count == 3)
        #expect(try garden.store.notifications().first?.sendAttempts.last?.result == .success)
    }

    @Test func `the status of a test notification is told after an attempt, for 180 days`() throws {
        let garden = try garden()
        func status(_ token: String) throws -> StoreNotification {
            try garden.store.readOrThrow { try $0.testNotificationStatus(token) }
        }
        let token = try garden.store.writeOrThrow { try $0.requestTestNotification() }
        #expect(throws: ServerAPIError.testNotificationNotFound) { _ = try status(token) }
        #expect(try send(garden.store, .success).count == 1)
        #expect(try status(token.uppercased()).sendAttempts.map(\.result) == [.success])
        _ = try garden.store.advance(seconds: 180 * 24 * 3600)
        #expect(try status(token).sendAttempts.count == 1)
        _ = try garden.store.advance(seconds: 1)
        #expect(throws: ServerAPIError.testNotificationNotFound) { _ = try status(token) }
    }

    @Test func `the sandbox sends a notification once`() throws {
        let garden = try garden()
        try garden.buy("garden.seeds")
        #expect(try send(garden.store, .noResponse, .success).count == 1)
        _ = try garden.store.advance(seconds: 100 * 3600)
        #expect(try garden.store.nextDelivery() == nil)
    }

    @Test(
        arguments: [
            ([.duplicate], [0, 0, 1, 2]), ([.reorder], [1, 0, 2]), ([.drop], [1, 2]), ([.drop, .reorder], [2, 1]),
            ([.reorder, .reorder], [2, 1, 0]), ([.delay(seconds: 60)], [1, 2, 0]), ([], [0, 1, 2]),
        ] as [([NotificationFault], [Int])])
    func `each fault applies to one of the next notifications`(faults: [NotificationFault], expected: [Int]) throws {
        let garden = try garden()
        try garden.store.add(faults)
        for _ in 0..<3 {
            try garden.buy("garden.seeds")
            garden.clock.advance(milliseconds: 10)
        }
        var sent = try send(garden.store, .success, .success, .success, .success)
        _ = try garden.store.advance(seconds: 60)
        sent += try send(garden.store, .success, .success)
        let order = try garden.store.notifications().map(\.notificationUUID)
        #expect(sent.map { order.firstIndex(of: $0) } == expected)
    }

    @Test func `a replayed notification is sent again`() throws {
        let garden = try garden()
        try garden.buy("garden.seeds")
        let uuid = try #require(try send(garden.store, .success).first)
        #expect(try garden.store.nextDelivery() == nil)
        try garden.store.replay(uuid)
        #expect(try send(garden.store, .success) == [uuid])
        let other = UUID()
        #expect(throws: StoreError.notificationNotFound(other)) { try garden.store.replay(other) }
    }

    @Test func `nothing is sent without an address`() throws {
        let garden = try TestGarden()
        try garden.buy("garden.seeds")
        #expect(try garden.store.nextDelivery() == nil)
        #expect(try garden.store.notifications().count == 1)
    }
}
