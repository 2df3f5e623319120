import AsyncHTTPClient
import Foundation
import Synchronization

/// A listener to a user's events, like an `EventSource`. It parses by the rules of HTML Standard section 9.2.6.
final class EventListener: Sendable {
    struct Event: Hashable, Sendable {
        var id = ""
        var kind = "message"
        var data = ""
        /// The time of its arrival, in seconds of the machine's clock.
        var receivedAt = 0.0
    }

    private struct State {
        var events: [Event] = []
        var hasEnded = false
    }

    /// A client with a connection for each listener: the shared client has eight for one server. It lives as long as the tests.
    static let screens = HTTPClient(
        eventLoopGroupProvider: .singleton,
        configuration: .init(
            connectionPool: .init(idleTimeout: .seconds(1), concurrentHTTP1ConnectionsPerHostSoftLimit: 10_000)))

    private let state = Mutex(State())
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// - Parameters:
    ///   - onEvent: Receives each event; if it is nil, the listener keeps the event.
    init(
        _ url: URL,
        token: String,
        after lastEvent: String? = nil,
        over client: HTTPClient = screens,
        onEvent: (@Sendable (Event) -> Void)? = nil
    ) {
        var request = HTTPClientRequest(url: url.appending(path: "/v1/me/events").absoluteString)
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        if let lastEvent { request.headers.add(name: "Last-Event-ID", value: lastEvent) }
        let listening = Task { [weak self, request] in
            var parser = Parser()
            do {
                let response = try await client.execute(request, deadline: .distantFuture)
                guard response.status == .ok else { throw CancellationError() }
                for try await buffer in response.body {
                    for event in parser.take(buffer.readableBytesView) {
                        if let onEvent { onEvent(event) } else { self?.state.withLock { $0.events.append(event) } }
                    }
                }
            } catch {}
            self?.state.withLock { $0.hasEnded = true }
        }
        task.withLock { $0 = listening }
    }

    deinit { task.withLock { $0?.cancel() } }

    /// Closes the connection, as an app does when its user closes it.
    func close() {
        task.withLock { $0?.cancel() }
    }

    var events: [Event] { state.withLock { $0.events } }
    var kinds: [String] { events.map(\.kind) }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    private struct Parser {
        private var line: [UInt8] = []
        private var event = Event()
        private var lastIdentifier = ""

        mutating func take(_ bytes: some Sequence<UInt8>) -> [Event] {
            var events: [Event] = []
            for byte in bytes {
                guard byte == UInt8(ascii: "\n") else {
                    line.append(byte)
                    continue
                }
                let text = String(decoding: line, as: UTF8.self)
                line = []
                if text.isEmpty {
                    event.id = lastIdentifier
                    event.receivedAt = Double(DispatchTime.now().uptimeNanoseconds) / 1e9
                    if !event.data.isEmpty { events.append(event) }
                    event = Event()
                } else if text.hasPrefix("id: ") {
                    lastIdentifier = String(text.dropFirst(4))
                } else if text.hasPrefix("event: ") {
                    event.kind = String(text.dropFirst(7))
                } else if text.hasPrefix("data: ") {
                    event.data = String(text.dropFirst(6))
                }
            }
            return events
        }
    }
}
