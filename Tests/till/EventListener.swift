import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A listener to a user's events on a connection of its own, like an `EventSource`. It parses by the rules of HTML Standard section
/// 9.2.6.
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

    private let state = Mutex(State())
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// - Parameters:
    ///   - onEvent: Receives each event; if it is nil, the listener keeps the event.
    init(
        _ url: URL,
        token: String,
        after lastEvent: String? = nil,
        onEvent: (@Sendable (Event) -> Void)? = nil
    ) {
        var headers: HTTPHeaders = ["Authorization": "Bearer \(token)"]
        if let lastEvent { headers.add(name: "Last-Event-ID", value: lastEvent) }
        let listening = Task { [weak self, headers] in
            var parser = Parser()
            try? await Self.listen(to: url, headers) { bytes in
                for event in parser.take(bytes) {
                    if let onEvent { onEvent(event) } else { self?.state.withLock { $0.events.append(event) } }
                }
            }
            self?.state.withLock { $0.hasEnded = true }
        }
        task.withLock { $0 = listening }
    }

    /// Passes on the bytes of the answer until it ends, or the task is cancelled.
    private static func listen(
        to server: URL, _ headers: HTTPHeaders, onBytes: (ByteBufferView) -> Void
    ) async throws {
        guard let host = server.host(), let port = server.port else { throw URLError(.badURL) }
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connect(
            host: host, port: port
        ) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHTTPClientHandlers()
                return try NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>(
                    wrappingChannelSynchronously: channel)
            }
        }
        try await connection.executeThenClose { answer, request in
            var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/v1/me/events", headers: headers)
            head.headers.add(name: "Host", value: "\(host):\(port)")
            try await request.write(.head(head))
            try await request.write(.end(nil))
            for try await part in answer {
                switch part {
                case .head(let head): if head.status != .ok { return }
                case .body(let bytes): onBytes(bytes.readableBytesView)
                case .end: return
                }
            }
        }
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
