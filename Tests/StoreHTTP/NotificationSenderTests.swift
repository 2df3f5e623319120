import AppStore
import Foundation
import HTTPSupport
import Logging
import Proofs
import Synchronization
import TestSupport
import Testing

@Suite struct NotificationSenderTests {
    /// The messages of a logger.
    private final class Messages: Sendable {
        private let written = Mutex<[String]>([])

        var all: [String] { written.withLock { $0 } }

        func add(_ message: String) { written.withLock { $0.append(message) } }
    }

    private struct Handler: LogHandler {
        let messages: Messages
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { messages.add("\(event.message)") }
    }

    @Test func `a delivery that the shutdown cancels is no failure of the store`() async throws {
        let garden = try TestGarden()
        let (arrivals, arrived) = AsyncStream<Void>.makeStream()
        let (ends, ended) = AsyncStream<Void>.makeStream()
        let receiver = try await WebhookReceiver { _, _ in
            arrived.finish()
            for await _ in ends {}
            return 200
        }
        _ = try garden.store.update { $0.notificationsURL = URL(string: receiver.url) }
        try garden.buy("garden.seeds")
        let messages = Messages()
        let logger = Logger(label: "tests") { _ in Handler(messages: messages) }
        let sending = Task { [store = garden.store] in
            try await store.sendDueNotifications(logger: logger)
        }
        for await _ in arrivals {}
        sending.cancel()
        try await sending.value
        ended.finish()
        #expect(messages.all == [])
        // The notification is still due.
        #expect(try garden.store.nextDelivery() != nil)
    }

    /// Runs a sender until `body` is done.
    private func sending(of store: Store, _ body: () async throws -> Void) async throws {
        let logger = Logger(label: "tests", factory: { _ in SwiftLogNoOpLogHandler() })
        let sending = Task { try await store.notificationSending(logger: logger).run() }
        defer { sending.cancel() }
        try await body()
        sending.cancel()
        _ = await sending.result
    }

    @Test func `each notification arrives before the clock passes its moment`() async throws {
        let garden = try TestGarden()
        let store = garden.store
        let arrivals = Mutex<[Timestamp]>([])
        let receiver = try await WebhookReceiver { _, _ in
            arrivals.withLock { $0.append(store.now) }
            return 200
        }
        _ = try store.update { $0.notificationsURL = URL(string: receiver.url) }
        var last = ""
        for account in ["alice", "bob", "carol"] {
            last = try #require(try garden.buy("garden.premium.monthly", account: account).purchase)
                .transactionIdentifier
            garden.clock.advance(milliseconds: 3_600_000)
        }
        try store.setAutoRenew(false, of: last)
        try await sending(of: store) {
            try await expectEventually { try store.nextDelivery() == nil }
            let known = arrivals.withLock(\.count)
            // The first renewal is announced a day late.
            try store.add([.delay(seconds: 86_400)])
            let end = try await store.advance(try #require(TimeStep("2mo")), deliveringWithin: Store.longestDelivery)
            #expect(end == store.now)
            let due = try store.notifications().dropFirst(known).compactMap(\.sendAttempts.first?.date).sorted()
            #expect(due.count == 5)
            #expect(Array(arrivals.withLock(\.self).dropFirst(known)) == due)
        }
    }

    @Test func `the clock does not wait where nobody delivers`() async throws {
        let garden = try TestGarden()
        _ = try garden.store.update { $0.notificationsURL = URL(string: "http://127.0.0.1:1/hooks") }
        try garden.buy("garden.premium.monthly")
        let start = garden.store.now
        let end = try await garden.store.advance(try #require(TimeStep("40d")), deliveringWithin: Store.longestDelivery)
        #expect(end == start.adding(days: 40) && garden.store.now == end)
        #expect(try garden.store.dueEvents(after: start, until: end).map(\.kind) == [.renewed])
    }

    @Test func `the clock waits no longer than its limit`() async throws {
        let garden = try TestGarden()
        let store = garden.store
        let (begins, begin) = AsyncStream<Void>.makeStream()
        let (ends, end) = AsyncStream<Void>.makeStream()
        let receiver = try await WebhookReceiver { _, _ in
            begin.finish()
            for await _ in ends {}
            return 200
        }
        _ = try store.update { $0.notificationsURL = URL(string: receiver.url) }
        try garden.buy("garden.premium.monthly")
        let start = store.now
        try await sending(of: store) {
            for await _ in begins {}
            let moment = try await store.advance(try #require(TimeStep("40d")), deliveringWithin: .milliseconds(20))
            #expect(moment == start.adding(days: 40))
            end.finish()
        }
        #expect(try store.notifications().count == 2)
    }

    @Test func `the clock waits no longer than its limit for a server whose answers have no end`() async throws {
        let garden = try TestGarden()
        let store = garden.store
        let receiver = try await WebhookReceiver { _, _ in
            _ = try? garden.buy("garden.seeds")
            return 200
        }
        _ = try store.update { $0.notificationsURL = URL(string: receiver.url) }
        try garden.buy("garden.premium.monthly")
        let start = store.now
        try await sending(of: store) {
            let end = try await store.advance(try #require(TimeStep("40d")), deliveringWithin: .milliseconds(200))
            #expect(end == start.adding(days: 40))
        }
    }
}
