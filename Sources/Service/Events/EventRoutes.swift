import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import ServiceLifecycle
import Vocabulary

/// Live events: every device that listens shows the changes of its user.
struct EventRoutes: OperationGroup {
    static let tag = OperationTag(
        "Live events", "The stream of an app user's changes.",
        [.listen])
    static let optional = [OptionalOperations(option: "--live-events", operations: operations)]
    let parts: ServiceParts
    private let hub: EventHub

    init?(parts: ServiceParts) {
        guard let hub = parts.events else { return nil }
        (self.parts, self.hub) = (parts, hub)
    }

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.listen) { request, context in
            let user = try context.requiredUser
            // A HEAD request does not open a stream.
            guard request.method == .get else { return Response(status: .ok, headers: ServerSentEvents.headers) }
            let known = HTTPField.Name.lastEventID.flatMap { request.headers[$0] }
            // An invalid position comes from another ledger, so it is after everything here.
            let position = known.map { EventPosition($0) ?? .afterAll }
            let number = try await hub.ledger.read { try $0.users.known(user) }
            guard number != nil || [nil, .beginning].contains(position) else {
                // The client has had events, so its user was erased. Status 204 stops a client from reconnecting (HTML Standard
                // section 9.2.3).
                return Response(status: .noContent)
            }
            let address = context.clientNetwork(of: request)
            // A number that no user has, for a user whom the ledger does not know yet.
            let listener = OpenEventStreams.Listener(
                to: number ?? ~Int64(user.hashValue & .max), from: address, in: hub.streams)
            let credential = AuthenticationMiddleware.credential(of: request) ?? ""
            let stream = EventStream(ledger: hub.ledger) { await isAuthorized(credential, of: user, $0) }
            return Response(
                status: .ok,
                headers: ServerSentEvents.headers,
                body: ResponseBody { writer in
                    defer { listener.leave() }
                    if let number {
                        try await stream.write(to: &writer, of: number, after: position, listener)
                    } else if let number = try await stream.number(
                        of: user, to: &writer, isNew: position == nil, listener)
                    {
                        listener.leave()
                        let own = OpenEventStreams.Listener(to: number, from: address, in: hub.streams)
                        defer { own.leave() }
                        try await stream.write(to: &writer, of: number, after: .beginning, own)
                    }
                    try await writer.finish(nil)
                })
        }
    }

    /// Checks that a listener is still authorized: its token may expire, its session may end, its user may be erased. An error
    /// other than 401 does not end the stream, because the next check will.
    ///
    /// - Parameter number: The user's number in the ledger; nil for a user whom the ledger does not know yet.
    private func isAuthorized(_ credential: String, of user: User, _ number: Int64?) async -> Bool {
        do {
            guard case .app(user, _) = try await settings.authentication.caller(presenting: credential) else {
                return false
            }
            guard let number else { return true }
            return try await hub.ledger.read { try $0.users.known(user) } == number
        } catch {
            return (error as? Problem)?.status != HTTPResponse.Status.unauthorized.code
        }
    }
}

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
    /// Checks that a listener is still authorized, by the user's number; nil for a user whom the ledger does not know yet.
    let isAuthorized: @Sendable (Int64?) async -> Bool

    /// Waits until the ledger knows the user, which a question does not bring about.
    ///
    /// - Parameter isNew: True for a client that has no position yet.
    /// - Returns: The user's number; nil at the end of the stream.
    func number(
        of user: User,
        to writer: inout any ResponseBodyWriter,
        isNew: Bool,
        _ listener: OpenEventStreams<Int64>.Listener
    ) async throws -> Int64? {
        let end = ContinuousClock.now + Self.maximumLifetime
        try await writer.write(listener.retryField)
        if isNew { try await writer.write(Self.text("ready", .beginning)) }
        var lastWritten = ContinuousClock.now
        var wakes = listener.wakes.makeAsyncIterator()
        repeat {
            if let number = try await ledger.read(.snapshot, { try $0.users.known(user) }) { return number }
            guard await isAuthorized(nil) else { return nil }
            if ContinuousClock.now - lastWritten > Self.heartbeatInterval {
                try await writer.write(Self.heartbeat)
                lastWritten = .now
            }
        } while await wakes.next() != nil && ContinuousClock.now < end && !Task.isCancelled
        return nil
    }

    /// Writes events until the stream reaches its maximum lifetime, its user or the service ends, or the client is gone.
    ///
    /// - Parameter known: The position that the client has reached; nil for a new client.
    func write(
        to writer: inout any ResponseBodyWriter,
        of user: Int64,
        after known: EventPosition?,
        _ listener: OpenEventStreams<Int64>.Listener
    ) async throws {
        let end = ContinuousClock.now + Self.maximumLifetime
        var position: EventPosition
        if let known {
            position = known
            try await writer.write(listener.retryField)
        } else {
            // A reader that reads everything after this position misses nothing.
            position = try await ledger.read { try $0.events.position(of: user) }
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
                guard await isAuthorized(user) else { return }
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
        switch try await ledger.read(
            .snapshot, { try $0.events.events(of: user, after: position, limit: Self.pageSize) })
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
        let json = String(decoding: try event.json(), as: UTF8.self)
        return "id: \(event.position)\nevent: \(event.kind)\ndata: \(json)\n\n"
    }
}

extension OpenEventStreams<Int64>.Listener {
    /// The reconnection time in milliseconds. It differs between clients, so they do not all reconnect at once after a restart.
    fileprivate var retryField: ByteBuffer { ByteBuffer(string: "retry: \(1000 + number * 37 % 4000)\n\n") }
}

/// The data of a server-sent event: a change to a user's items.
extension UserEvent: AnswerObject {
    package static let answerFields = AnswerFields<Self> {
        $0.field("happenedAt", \.happenedAt)
        $0.field("reference", \.reference)
        $0.field("subject") { $0.subject.isEmpty ? nil : $0.subject }
    }
}

extension APIOperation {
    static let listen = APIOperation(
        .get, "/v1/me/events", for: .app,
        "listen", "Streams the events of the user",
        details:
            "Server-sent events, only with `till serve --live-events`. `id` is the position: send it as `Last-Event-ID` to miss nothing after a reconnection. `event` is the kind of event. `data` is a JSON object with `happenedAt`, `reference` and `subject`. The first event for a client without `Last-Event-ID` is `ready`. After `reset`, the client must read everything again, because events between are no longer available.",
        parameters: [.header("Last-Event-ID", "The `id` of the last received event.")],
        answers: [
            .content("Events, until the stream ends after 15 minutes.", ["text/event-stream": .text()]),
            .empty("The user has listened before and is erased. Do not reconnect."),
        ])
}

/// The event streams of all users. A commit wakes the streams of the users that it changed.
///
/// Another process on the same ledger cannot wake streams here, so all are woken every five seconds, a few at a time.
package final class EventHub: Service, Sendable {
    /// The time in which every stream is woken once.
    private static let round = Duration.seconds(5)
    private static let steps = 50

    let streams: OpenEventStreams<Int64>
    package let ledger: Ledger

    /// - Parameter listeners: No listeners, with the limits on them.
    package init(ledger: Ledger, _ listeners: EventListeners<Int64> = EventListeners()) {
        self.ledger = ledger
        streams = OpenEventStreams(listeners)
        ledger.observe { [weak streams] users in streams?.wake(users) }
    }

    /// Wakes streams in turn until the service stops, then ends all streams.
    package func run() async throws {
        var step = 0
        await AsyncStream.ticksUntilShutdown(every: Self.round / Self.steps) {
            step = (step + 1) % Self.steps
            streams.wake { [step] in $0 % Self.steps == step }
        }
        streams.close()
    }
}
