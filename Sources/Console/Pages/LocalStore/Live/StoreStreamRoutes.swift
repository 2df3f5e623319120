import HTTPSupport
import HTTPTypes
import Hummingbird
import Store
import Team

/// The live rows of the store's pages: an event `change` after each commit of the store (HTML Standard section 9.2).
struct StoreStreamRoutes: Sendable {
    /// The time after which a stream ends. Its browser connects again.
    private static let maximumLifetime = Duration.seconds(15 * 60)
    /// The interval at which the session is checked.
    private static let sessionCheckInterval = Duration.seconds(5)
    /// The shortest pause between two events. Browsers load the page again for each.
    private static let pause = Duration.milliseconds(500)
    /// The longest time without a byte. Proxies close a connection that stays idle for long.
    private static let heartbeatInterval = Duration.seconds(15)

    let team: TeamService
    let streams: StoreStreams

    func add(to pages: ConsolePages) {
        pages.answer("store/stream", .store) { request, context in
            // A HEAD request does not open a stream.
            guard request.method == .get else { return Response(status: .ok, headers: ServerSentEvents.headers) }
            // A browser that connects again may have missed changes.
            let isReconnected = HTTPField.Name.lastEventID.map { request.headers.contains($0) } ?? false
            let subscription = try await BlockingWork.run { [streams] in streams.subscribe() }
            let cookie = context.cookie
            return Response(
                status: .ok, headers: ServerSentEvents.headers,
                body: ResponseBody { writer in
                    try await withThrowingDiscardingTaskGroup { group in
                        let listener = subscription.listener
                        group.addTask {
                            await AsyncStream.ticksUntilShutdown(every: Self.sessionCheckInterval) { listener.tick() }
                            listener.end()
                        }
                        try await write(to: &writer, listener, isReconnected: isReconnected, cookie: cookie)
                        group.cancelAll()
                    }
                    withExtendedLifetime(subscription) {}
                    try await writer.finish(nil)
                })
        }
    }

    /// Writes events until the maximum lifetime, the end of the session or of the service, or the client is gone.
    private func write(
        to writer: inout any ResponseBodyWriter,
        _ listener: StoreStreams.Listener,
        isReconnected: Bool,
        cookie: String
    ) async throws {
        let end = ContinuousClock.now + Self.maximumLifetime
        var lastWritten = ContinuousClock.now
        try await writer.write(ByteBuffer(string: "retry: 2000\nid: 1\n\n"))
        if isReconnected { try await writer.write(Self.change) }
        for await _ in listener.wakes {
            if listener.takeChange() {
                try await writer.write(Self.change)
                lastWritten = .now
                try await Task.sleep(for: Self.pause)
            }
            guard await isAuthorized(cookie), ContinuousClock.now < end else { return }
            if ContinuousClock.now - lastWritten > Self.heartbeatInterval {
                try await writer.write(Self.heartbeat)
                lastWritten = .now
            }
        }
    }

    /// Returns true if the session may still control the store. An error ends no stream: the next check may succeed.
    private func isAuthorized(_ cookie: String) async -> Bool {
        do {
            return try await team.member(presenting: cookie)?.role.permissions.contains(.store) ?? false
        } catch {
            return true
        }
    }

    private static let change = ByteBuffer(string: "event: change\ndata: {}\n\n")
    private static let heartbeat = ByteBuffer(string: ":\n\n")
}
