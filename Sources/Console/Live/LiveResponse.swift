import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Synchronization

extension LiveStreams {
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
    ///   - events: Returns the events since its last call. It is called again after each change.
    /// - Throws: `Problem` if the page needs no session.
    func response(
        to request: Request, _ context: ConsoleContext, _ team: TeamService, _ permission: TeamPermission = .view,
        _ events: @escaping @Sendable () async throws -> [LiveEvent]
    ) throws -> Response {
        // A HEAD request does not open a stream.
        guard request.method == .get else { return Response(status: .ok, headers: ServerSentEvents.headers) }
        let subscription = Subscription(listen(try context.requiredMember.name), in: self)
        let (language, cookie) = (context.language, context.cookie)
        return Response(
            status: .ok, headers: ServerSentEvents.headers,
            body: ResponseBody { writer in
                defer { subscription.leave() }
                try await Self.write(to: &writer, subscription.listener, language, events) {
                    let member = try await team.member(presenting: cookie)
                    return member?.role.permissions.contains(permission) ?? false
                }
                try await writer.finish(nil)
            })
    }

    /// - Parameter isPermitted: Returns true if the session lasts and its member still has the permission.
    private static func write(
        to writer: inout any ResponseBodyWriter, _ listener: Listener, _ language: ConsoleLanguage,
        _ events: () async throws -> [LiveEvent], while isPermitted: () async throws -> Bool
    ) async throws {
        let end = ContinuousClock.now + Self.maximumLifetime
        // The time differs between browsers, so that they do not all reconnect at once. With an identifier, a browser states in
        // `Last-Event-ID` that it reconnects.
        try await writer.write(ByteBuffer(string: "retry: \(2000 + listener.number * 37 % 2000)\nid: 1\n\n"))
        var lastWritten = ContinuousClock.now
        var wakes = listener.wakes.makeAsyncIterator()
        repeat {
            // The check comes first, so that nothing is sent after the end of the session. If it fails, the next one may not.
            guard let isPermitted = try? await isPermitted() else {
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

    /// A stream's registration, which ends with the response, or without one if none was written.
    private final class Subscription: Sendable {
        let listener: Listener
        private let streams: LiveStreams

        init(_ listener: Listener, in streams: LiveStreams) {
            self.listener = listener
            self.streams = streams
        }

        func leave() {
            streams.leave(listener)
        }

        deinit { leave() }
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

/// The changes of what a page shows, as events that let the script load it again.
final class ChangeFeed: Sendable {
    private let streams: LiveStreams
    /// The number of changes at the previous reading. Nil if the page may be older than the stream.
    private let known: Mutex<Int?>

    /// - Parameter isReconnected: True if the browser may have missed changes since an earlier stream.
    init(_ streams: LiveStreams, isReconnected: Bool) {
        self.streams = streams
        known = Mutex(isReconnected ? nil : streams.changeCount)
    }

    /// An event if there were changes since the last call.
    func events() -> [LiveEvent] {
        let count = streams.changeCount
        return known.withLock { known in
            defer { known = count }
            return known == count ? [] : [.change]
        }
    }
}
