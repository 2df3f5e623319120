import HTTPTypes
import Hummingbird
import Ledger
import Logging
import Synchronization

/// The limits that all requests share, with the client addresses for which they apply.
package final class SharedLimits: Sendable {
    let addresses: ClientAddresses
    let bodies: BodyBudget
    /// The requests in progress of each client network. Nil if connections are limited instead.
    let openRequests: OpenRequests?
    /// The reserve of free space. Nil if there is none.
    package let reserve: StorageReserve?
    /// The budget of users without a purchase. Nil for no limit.
    let newcomers: NewcomerBudget?
    /// The ledger, whose queue of commits refuses writes without a proof first. Nil if there is none.
    let ledger: Ledger?
    package let lines = LogLimit()
    private let hasWarnedAboutProxy = Atomic(false)

    /// - Parameters:
    ///   - proxies: The number of trusted proxies before the service.
    ///   - requests: The limits on the requests in progress of each client network; nil for none.
    package init(
        proxies: Int = 0,
        bodies: BodyBudget = BodyBudget(),
        requests: NetworkCounts? = nil,
        reserve: StorageReserve? = nil,
        newcomers: NewcomerBudget? = nil,
        ledger: Ledger? = nil
    ) {
        addresses = ClientAddresses(proxies: proxies)
        self.bodies = bodies
        openRequests = requests.map(OpenRequests.init)
        self.reserve = reserve
        self.newcomers = newcomers
        self.ledger = ledger
    }

    /// Returns true on the first call only.
    func shouldWarnAboutProxy() -> Bool { !hasWarnedAboutProxy.exchange(true, ordering: .relaxed) }
}

/// A limit on each client network's requests in progress. It is for a service behind proxies, where one connection
/// carries the requests of many clients.
package final class OpenRequests: Sendable {
    private let counts: Mutex<NetworkCounts>

    /// - Parameter limits: The limits, without requests.
    package init(_ limits: NetworkCounts) {
        counts = Mutex(limits)
    }

    /// Counts a request.
    ///
    /// - Returns: False if the network has reached its limit. Then the request is not counted.
    package func begin(from network: ClientNetwork) -> Bool {
        counts.withLock { counts in
            guard counts.full(around: network) == nil else { return false }
            counts.add(of: network)
            return true
        }
    }

    /// Removes a finished request from the count.
    package func end(from network: ClientNetwork) {
        counts.withLock { $0.remove(of: network) }
    }
}

/// Refuses requests with an invalid head, and requests above the limit of one client behind proxies.
struct AdmissionMiddleware: RouterMiddleware {
    let sharedLimits: SharedLimits

    func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        context.notes.sharedLimits = sharedLimits
        if let name = HTTPField.Name.refusal, let refusal = request.headers[name].flatMap(RequestHead.Refusal.init) {
            context.notes.code = "headInvalid"
            return try Problem(status: .badRequest, code: "headInvalid", detail: refusal.sentence).response()
        }
        warnAboutProxy(request, context)
        guard let openRequests = sharedLimits.openRequests else { return try await next(request, context) }
        let network = context.clientNetwork(of: request)
        guard openRequests.begin(from: network) else {
            context.notes.code = Problem.tooBusy.code
            return try Problem.tooBusy.response()
        }
        defer { openRequests.end(from: network) }
        return try await next(request, context)
    }

    private func warnAboutProxy(_ request: Request, _ context: ServiceContext) {
        guard sharedLimits.addresses.proxies == 0, let name = HTTPField.Name.forwardedFor,
            request.headers[name] != nil, sharedLimits.shouldWarnAboutProxy()
        else { return }
        context.logger.warning(
            "A request has X-Forwarded-For, but `proxies` is 0. If your proxy sent it, set `proxies`: all clients share its limits."
        )
    }
}
