import HTTPTypes
import Hummingbird
import Proofs
import Synchronization

/// The outages of a simulated store, and what the service has brought about at it.
final class StoreWeather: Sendable {
    enum State: String, Sendable {
        case up
        /// The store does what it is asked, and its answers are lost.
        case mute
        case down
    }

    /// A request that the store has performed.
    struct Effect: Sendable {
        /// The method, the address and the body.
        let request: String
        let time: Timestamp
        /// False if the answer was lost.
        let isAnswered: Bool
    }

    /// The parts of the addresses under which a service does its duties.
    private static let addresses = [
        ":acknowledge", ":consume", ":reviewrefund", "/externalTransactions", "/consumption/",
        "/externalPurchase/v1/reports",
    ]

    private let clock: any WallClock
    private let present = Mutex(State.up)
    private let effects = Mutex<[Effect]>([])

    init(_ clock: any WallClock) { self.clock = clock }

    var state: State { present.withLock { $0 } }

    func change(to state: State) { present.withLock { $0 = state } }

    /// Returns the effects since the last call.
    func take() -> [Effect] {
        effects.withLock { effects in
            defer { effects = [] }
            return effects
        }
    }

    /// - Returns: True if the answer is lost.
    fileprivate func performed(_ request: String, _ method: HTTPRequest.Method) -> Bool {
        guard method != .get, Self.addresses.contains(where: request.contains) else { return false }
        let isLost = state == .mute
        effects.withLock { $0.append(Effect(request: request, time: clock.now(), isAnswered: !isLost)) }
        return isLost
    }
}

/// A store whose answers depend on its weather.
struct WeatheredStore<Inner: HTTPResponder>: HTTPResponder {
    let inner: Inner
    let weather: StoreWeather

    func respond(to request: Request, context: Inner.Context) async throws -> Response {
        guard weather.state != .down else { return Response(status: .serviceUnavailable) }
        var request = request
        let body = try await request.collectBody(upTo: 1 << 20)
        let response = try await inner.respond(to: request, context: context)
        guard response.status.kind == .successful else { return response }
        let text = "\(request.method) \(request.uri) \(String(buffer: body))"
        return weather.performed(text, request.method) ? Response(status: .serviceUnavailable) : response
    }
}
