import Foundation
import Logging
import Store
import StoreHTTP
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
            try await NotificationSender(store: store, logger: logger).sendDue()
        }
        for await _ in arrivals {}
        sending.cancel()
        try await sending.value
        ended.finish()
        #expect(messages.all == [])
        // The notification is still due.
        #expect(try garden.store.nextDelivery() != nil)
    }
}
