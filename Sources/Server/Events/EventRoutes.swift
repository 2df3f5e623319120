import Commerce
import HTTPTypes
import Hummingbird
import Ledger

/// Live events: what happens to a user shows on every screen that listens.
struct EventRoutes: Sendable {
    static let contentType = "text/event-stream"

    let work: BlockingWork
    let commits: CommitQueue
    let hub: EventHub
    let clock: any WallClock

    private static var headers: HTTPFields {
        var headers: HTTPFields = [.contentType: contentType, .cacheControl: "no-store"]
        // A proxy would keep events back until it has many.
        if let name = HTTPField.Name("X-Accel-Buffering") { headers[name] = "no" }
        return headers
    }

    /// - Parameter group: Routes under `/v1/me`.
    func addForApps(to group: RouterGroup<ServiceContext>) {
        group.for(.app).get("events") { request, context in
            let user = try context.requiredUser
            let number = try await commits.run { try hub.ledger.number(of: user, at: clock.now()) }
            let known = HTTPField.Name("Last-Event-ID").flatMap { request.headers[$0] }
            // What is no position is one of another ledger.
            let position = known.map { EventPosition($0) ?? EventPosition(audit: .max, change: .max) }
            let stream = EventStream(ledger: hub.ledger, work: work)
            guard let listener = hub.listen(to: number) else { throw Problem.tooManyListeners }
            let seat = EventSeat(listener, in: hub)
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

extension Problem {
    fileprivate static let tooManyListeners = Problem(
        status: .tooManyRequests, code: "tooManyListeners",
        detail: "\(EventHub.maximumListeners) screens of this user listen already: close one.", couldSucceedLater: true,
        retryAfter: 60)
}
