import Commerce
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger

/// Live events: what happens to a user shows on every screen that listens.
struct EventRoutes: Sendable {
    let authentication: Authentication
    let hub: EventHub
    let clock: any WallClock

    private static var headers: HTTPFields {
        var headers: HTTPFields = [.contentType: ServerSentEvents.contentType, .cacheControl: "no-store"]
        // A proxy would keep events back until it has many.
        if let name = HTTPField.Name("X-Accel-Buffering") { headers[name] = "no" }
        return headers
    }

    /// - Parameter group: Routes under `/v1/me`.
    func addForApps(to group: RouterGroup<ServiceContext>) {
        group.for(.app).get("events") { request, context in
            let user = try context.requiredUser
            // Who asks for the head alone does not listen.
            guard request.method == .get else { return Response(status: .ok, headers: Self.headers) }
            let known = HTTPField.Name.lastEventID.flatMap { request.headers[$0] }
            guard let number = try await number(of: user, isNew: known == nil) else {
                // Which tells a client to come no more (HTML Standard section 9.2.3).
                return Response(status: .noContent)
            }
            // What is no position is one of another ledger.
            let position = known.map { EventPosition($0) ?? EventPosition(audit: .max, change: .max) }
            let listener = hub.listen(to: number, from: context.clientAddress(of: request))
            let seat = EventSeat(listener, in: hub)
            let credential = AuthenticationMiddleware.credential(of: request) ?? ""
            let stream = EventStream(ledger: hub.ledger) { await isGood(credential, of: user, number) }
            return Response(
                status: .ok,
                headers: Self.headers,
                body: ResponseBody { writer in
                    defer { seat.leave() }
                    try await stream.write(to: &writer, of: number, after: position, listener)
                    try await writer.finish(nil)
                })
        }
    }

    /// - Parameter isNew: Whether the user may be seen for the first time: who has listened before and is not known is erased.
    private func number(of user: User, isNew: Bool) async throws -> Int64? {
        if let known = try await hub.ledger.read(.snapshot, { try $0.number(of: user) }) { return known }
        guard isNew else { return nil }
        return try await hub.ledger.write { try $0.number(of: user, at: clock.now()) }
    }

    /// Whether what a listener came with is still theirs: a token ends, a session does, and a user may be erased. Where that
    /// cannot be told now, it is told later.
    private func isGood(_ credential: String, of user: User, _ number: Int64) async -> Bool {
        do {
            guard case .app(user, _) = try await authentication.caller(presenting: credential) else {
                return false
            }
            return try await hub.ledger.read { try $0.number(of: user) } == number
        } catch {
            return (error as? Problem)?.status != HTTPResponse.Status.unauthorized.code
        }
    }
}

/// A listener's place, which it leaves when its answer is over or was never written.
private final class EventSeat: Sendable {
    private let listener: EventHub.Listener
    private let hub: EventHub

    init(_ listener: EventHub.Listener, in hub: EventHub) {
        self.listener = listener
        self.hub = hub
    }

    func leave() {
        hub.leave(listener)
    }

    deinit { leave() }
}
