import Foundation
import HTTPSupport
import Hummingbird
import Ledger

/// The events of one user as server-sent events (HTML Standard section 9.2) for one client.
struct EventStream: Sendable {
    /// The time after which a stream ends. Its client reconnects with the identifier of the last event.
    private static let maximumLifetime = Duration.seconds(15 * 60)
    /// The interval at which the listener's authorization is checked.
    private static let authorizationCheckInterval = Duration.seconds(5)
    /// The longest time without a byte. Proxies close a connection that stays idle for long.
    private static let heartbeatInterval = Duration.seconds(15)
    /// The maximum number of events in one read.
    private static let pageSize = 100

    let ledger: Ledger
    /// Returns true if the listener is still authorized.
    let isAuthorized: @Sendable () async -> Bool

    /// Writes events until the stream reaches its maximum lifetime, its user or the service ends, or the client is gone.
    ///
    /// - Parameter known: The position that the client has reached; nil for a new client.
    func write(
        to writer: inout any ResponseBodyWriter,
        of user: Int64,
        after known: EventPosition?,
        _ listener: EventHub.Listener
    ) async throws {
        let end = ContinuousClock.now + Self.maximumLifetime
        var position: EventPosition
        if let known {
            position = known
            try await writer.write(listener.retryField)
        } else {
            // A reader that reads everything after this position misses nothing.
            position = try await ledger.read { try $0.position(ofUser: user) }
            try await writer.write(listener.retryField)
            try await writer.write(Self.text("ready", position))
        }
        var (lastWritten, lastChecked) = (ContinuousClock.now, ContinuousClock.now)
        var wakes = listener.wakes.makeAsyncIterator()
        repeat {
            while let (text, next) = try await newEvents(of: user, after: position) {
                guard let text else { return try await writer.write(Self.erased) }
                if !text.isEmpty {
                    try await writer.write(ByteBuffer(string: text))
                    lastWritten = .now
                }
                position = next
            }
            // The check follows the events, because the last of them may be the erasure of the user.
            if ContinuousClock.now - lastChecked >= Self.authorizationCheckInterval {
                guard await isAuthorized() else { return }
                lastChecked = .now
            }
            if ContinuousClock.now - lastWritten > Self.heartbeatInterval {
                try await writer.write(Self.heartbeat)
                lastWritten = .now
            }
        } while await wakes.next() != nil && ContinuousClock.now < end && !Task.isCancelled
    }

    /// The events after a position as text, and the position that they reach. Nil if there are none. The text is nil for an
    /// erased user.
    private func newEvents(of user: Int64, after position: EventPosition) async throws -> (String?, EventPosition)? {
        switch try await ledger.read(.snapshot, { try $0.events(ofUser: user, after: position, limit: Self.pageSize) })
        {
        case .events(let events, let upTo): upTo == position ? nil : (try events.map(Self.text).joined(), upTo)
        case .missed(let current): ("id: \(current)\nevent: reset\ndata: {}\n\n", current)
        case .erased: (nil, position)
        }
    }

    private static let heartbeat = ByteBuffer(string: ":\n\n")
    private static let erased = ByteBuffer(string: "event: erased\ndata: {}\n\n")

    private static func text(_ kind: String, _ position: EventPosition) -> ByteBuffer {
        ByteBuffer(string: "id: \(position)\nevent: \(kind)\ndata: {}\n\n")
    }

    private static func text(of event: UserEvent) throws -> String {
        let data = EventResource(
            happenedAt: event.happenedAt.rfc3339, reference: event.reference,
            subject: event.subject.isEmpty ? nil : event.subject)
        let json = String(decoding: try JSONAnswer.encode(data), as: UTF8.self)
        return "id: \(event.position)\nevent: \(event.kind)\ndata: \(json)\n\n"
    }
}

extension EventHub.Listener {
    /// The reconnection time in milliseconds. It differs between clients, so they do not all reconnect at once after a restart.
    fileprivate var retryField: ByteBuffer { ByteBuffer(string: "retry: \(1000 + number * 37 % 4000)\n\n") }
}

/// The data of a server-sent event: a change to a user's items.
private struct EventResource: Encodable {
    /// RFC 3339, UTC.
    let happenedAt: String
    /// The identifier of the transaction or grant.
    let reference: String?
    /// The product. Nil for the profile.
    let subject: String?
}
