import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs

/// Live events: every device that listens shows the changes of its user.
struct EventRoutes: Sendable {
    let authentication: Authentication
    let hub: EventHub
    let clock: any WallClock

    /// - Parameter group: Routes under `/v1/me`.
    func addForApps(to group: RouterGroup<ServiceContext>) {
        group.for(.app).get("events") { request, context in
            let user = try context.requiredUser
            // A HEAD request does not open a stream.
            guard request.method == .get else { return Response(status: .ok, headers: ServerSentEvents.headers) }
            let known = HTTPField.Name.lastEventID.flatMap { request.headers[$0] }
            guard let number = try await number(of: user, isNew: known == nil) else {
                // Status 204 stops a client from reconnecting (HTML Standard section 9.2.3).
                return Response(status: .noContent)
            }
            // An invalid position comes from another ledger, so it is after everything here.
            let position = known.map { EventPosition($0) ?? EventPosition(audit: .max, change: .max) }
            let listener = hub.listen(to: number, from: context.clientAddress(of: request))
            let subscription = EventSubscription(listener, in: hub)
            let credential = AuthenticationMiddleware.credential(of: request) ?? ""
            let stream = EventStream(ledger: hub.ledger) { await isAuthorized(credential, of: user, number) }
            return Response(
                status: .ok,
                headers: ServerSentEvents.headers,
                body: ResponseBody { writer in
                    defer { subscription.leave() }
                    try await stream.write(to: &writer, of: number, after: position, listener)
                    try await writer.finish(nil)
                })
        }
    }

    /// The number of the user in the ledger.
    ///
    /// - Parameter isNew: True if the user may be added. A client with a known position whose user is missing belongs to an
    ///   erased user.
    private func number(of user: User, isNew: Bool) async throws -> Int64? {
        if let known = try await hub.ledger.read(.snapshot, { try $0.number(of: user) }) { return known }
        guard isNew else { return nil }
        return try await hub.ledger.write { try $0.number(of: user, at: clock.now()) }
    }

    /// Checks that a listener is still authorized: its token may expire, its session may end, its user may be erased. An error
    /// other than 401 does not end the stream, because the next check will.
    private func isAuthorized(_ credential: String, of user: User, _ number: Int64) async -> Bool {
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

/// A listener's registration, which ends with the answer, or without one if none was written.
private final class EventSubscription: Sendable {
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
