import AppStore
import Features
import HTTPSupport
import Hummingbird
import Ledger
import Logging
import Proofs
import ServiceLifecycle
import Synchronization

/// The open event streams of the console, limited in total and for each member.
///
/// Another process on the same ledger may not wake streams here, and a session may end without a change, so all are woken every
/// five seconds, too. A stream above the limit ends the oldest one.
package final class LiveStreams: Service, Sendable {
    package typealias Listener = OpenEventStreams<ByteKey>.Listener

    /// The limit on the open streams of a member.
    package static let maximumPerMember = 6

    private struct State {
        var changeCount = 0
        /// The observation of a local store that wakes the streams.
        var observation: StoreObservation?
    }

    private static let interval = Duration.seconds(5)

    /// The streams by the names of their members.
    package let open: OpenEventStreams<ByteKey>
    private let state = Mutex(State())

    /// - Parameters:
    ///   - maximum: The limit on open streams.
    ///   - maximumPerMember: The limit on the open streams of a member.
    package init(maximum: Int = 64, maximumPerMember: Int = LiveStreams.maximumPerMember) {
        var listeners = EventListeners<ByteKey>()
        (listeners.total, listeners.perAddress, listeners.perOwner) = (maximum, maximum, maximumPerMember)
        open = OpenEventStreams(listeners)
    }

    /// The number of changes that have woken the streams.
    var changeCount: Int { state.withLock { $0.changeCount } }

    /// Wakes the streams after each commit that changes a user.
    func wake(after ledger: Ledger) {
        ledger.observe { [weak self] _ in self?.change() }
    }

    /// Wakes the streams after each commit of a local store, also one of another process.
    func wake(after store: Store) {
        let observation = store.observe { [weak self] in self?.change() }
        state.withLock { $0.observation = observation }
    }

    private func change() {
        state.withLock { $0.changeCount += 1 }
        open.wake()
    }

    /// Wakes all streams from time to time until the service stops, then ends them.
    package func run() async throws {
        await AsyncStream.ticksUntilShutdown(every: Self.interval) { open.wake() }
        close()
    }

    /// Ends all streams, and those that are opened later.
    package func close() {
        state.withLock { $0.observation = nil }
        open.close()
    }

    private static let maximumLifetime = Duration.seconds(15 * 60)
    /// The longest time without a byte. Proxies close a connection that stays idle for long.
    private static let heartbeatInterval = Duration.seconds(15)
    /// The shortest time between two readings, however many purchases come in.
    private static let pause = Duration.milliseconds(500)

    /// A response of server-sent events (HTML Standard section 9.2) for a page of the console.
    ///
    /// It ends with the session, with the service, when the browser is gone, or after its maximum lifetime. The browser
    /// reconnects after the last.
    ///
    /// - Parameters:
    ///   - permission: The permission that the member of the session must keep.
    ///   - start: What the page shows already.
    ///   - events: Returns the events since its last call, and changes what the page shows. It is called after each change.
    /// - Throws: `Problem` if the page needs no session.
    func response<Known: Sendable>(
        to request: Request, _ context: ConsoleContext, _ team: TeamService, _ permission: TeamPermission,
        from start: Known, _ events: @escaping @Sendable (inout Known) async throws -> [LiveEvent]
    ) throws -> Response {
        // A HEAD request does not open a stream.
        guard request.method == .get else { return Response(status: .ok, headers: ServerSentEvents.headers) }
        let listener = Listener(to: ByteKey(try context.requiredMember.name), in: open)
        let (language, cookie) = (context.language, context.cookie)
        return Response(
            status: .ok, headers: ServerSentEvents.headers,
            body: ResponseBody { writer in
                defer { listener.leave() }
                var known = start
                try await Self.write(to: &writer, listener, language, context.logger) {
                    try await events(&known)
                } while: {
                    let member = try await team.member(presenting: cookie)
                    return member?.role.permissions.contains(permission) ?? false
                }
                try await writer.finish(nil)
            })
    }

    private static let checkFailed: Logger.Message = "session of a live page not checked"

    /// - Parameter check: Returns true if the session lasts and its member still has the permission.
    private static func write(
        to writer: inout any ResponseBodyWriter, _ listener: Listener, _ language: ConsoleLanguage, _ logger: Logger,
        _ events: () async throws -> [LiveEvent], while check: () async throws -> Bool
    ) async throws {
        let end = ContinuousClock.now + Self.maximumLifetime
        // The time differs between browsers, so that they do not all reconnect at once. With an identifier, a browser states in
        // `Last-Event-ID` that it reconnects.
        try await writer.write(ByteBuffer(string: "retry: \(2000 + listener.number * 37 % 2000)\nid: 1\n\n"))
        var lastWritten = ContinuousClock.now
        var failures = FailureLog()
        var wakes = listener.wakes.makeAsyncIterator()
        repeat {
            // The check comes first, so that nothing is sent after the end of the session. If it fails, the next one may not.
            let isPermitted: Bool
            do {
                isPermitted = try await check()
                failures.record(nil, in: logger, Self.checkFailed)
            } catch {
                failures.record(FailureCause(error), in: logger, Self.checkFailed)
                try await Task.sleep(for: Self.pause)
                continue
            }
            guard isPermitted else { return }
            var text = try await events().map { $0.text(in: language) }.joined()
            if text.isEmpty, ContinuousClock.now - lastWritten > Self.heartbeatInterval { text = ":\n\n" }
            if !text.isEmpty {
                try await writer.write(ByteBuffer(string: text))
                lastWritten = .now
            }
            try await Task.sleep(for: Self.pause)
        } while await wakes.next() != nil && ContinuousClock.now < end && !Task.isCancelled
    }
}

/// An event of a live list, which the script shows.
package enum LiveEvent: Sendable {
    /// A new row at the top.
    case row(HTML)
    /// The script reloads the list.
    case change

    /// The event as text (HTML Standard section 9.2.6). A browser drops an event without data.
    package func text(in language: ConsoleLanguage) -> String {
        switch self {
        case .row(let html):
            // Each line of the data has its own field.
            let lines = html.render(language).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            return "event: row\n" + lines.map { "data: \($0)\n" }.joined() + "\n"
        case .change: return "event: change\ndata: {}\n\n"
        }
    }
}
