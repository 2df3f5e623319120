import Foundation
import HTTPSupport
import Hummingbird
import Ledger
import Wire

/// What happens to a user, as server-sent events (HTML Standard section 9.2) on their way to one screen.
struct EventStream: Sendable {
    /// After so long the stream ends, and its client comes again with the number of the last event.
    private static let life = Duration.seconds(15 * 60)
    /// How often it is asked whether the listener may still listen.
    private static let trust = Duration.seconds(5)
    /// A line is sent after so long a silence: whatever stands between would take the connection for dead.
    private static let silence = Duration.seconds(15)
    /// How many events are read at once.
    private static let page = 100

    let ledger: Ledger
    /// Whether the listener may still listen.
    let isGood: @Sendable () async -> Bool

    /// Writes events until the stream's life is over, its user or the service has ended, or nobody reads any more.
    ///
    /// - Parameter known: Where the client has come to; nil for one that knows nothing yet.
    func write(
        to writer: inout any ResponseBodyWriter,
        of user: Int64,
        after known: EventPosition?,
        _ listener: EventHub.Listener
    ) async throws {
        let end = ContinuousClock.now + Self.life
        var position: EventPosition
        if let known {
            position = known
            try await writer.write(listener.hello)
        } else {
            // Whoever reads all there is from here on misses nothing.
            position = try await ledger.read { try $0.position(ofUser: user) }
            try await writer.write(listener.hello)
            try await writer.write(Self.text("ready", position))
        }
        var (lastWritten, lastAsked) = (ContinuousClock.now, ContinuousClock.now)
        var wakes = listener.wakes.makeAsyncIterator()
        repeat {
            while let (text, next) = try await news(of: user, after: position) {
                guard let text else { return try await writer.write(Self.erased) }
                if !text.isEmpty {
                    try await writer.write(ByteBuffer(string: text))
                    lastWritten = .now
                }
                position = next
            }
            // After the news, of which the last may be that the user is erased.
            if ContinuousClock.now - lastAsked >= Self.trust {
                guard await isGood() else { return }
                lastAsked = .now
            }
            if ContinuousClock.now - lastWritten > Self.silence {
                try await writer.write(Self.comment)
                lastWritten = .now
            }
        } while await wakes.next() != nil && ContinuousClock.now < end && !Task.isCancelled
    }

    /// What has happened since, as text, and up to where; nil where nothing has. No text for a user who is erased.
    private func news(of user: Int64, after position: EventPosition) async throws -> (String?, EventPosition)? {
        switch try await ledger.read(.snapshot, { try $0.events(ofUser: user, after: position, limit: Self.page) }) {
        case .events(let events, let upTo): upTo == position ? nil : (try events.map(Self.text).joined(), upTo)
        case .missed(let current): ("id: \(current)\nevent: reset\ndata: {}\n\n", current)
        case .erased: (nil, position)
        }
    }

    private static let comment = ByteBuffer(string: ":\n\n")
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
    /// After how many milliseconds a client that loses its connection comes again: each after another time, since a service that
    /// is started anew has lost them all at once.
    fileprivate var hello: ByteBuffer { ByteBuffer(string: "retry: \(1000 + number * 37 % 4000)\n\n") }
}
