import HTTPTypes
import Hummingbird
import Ledger
import Logging
import NIOCore
import Proofs
import Synchronization

/// The limits that all requests share, with the client addresses for which they apply.
package final class SharedLimits: Sendable {
    let addresses: ClientAddresses
    let bodies: BodyBudget
    /// The requests in progress of each client address, and their limit. Nil if connections are limited instead.
    let requestsPerAddress: Int?
    let openRequests = OpenRequests()
    /// The reserve of free space. Nil if there is none.
    package let reserve: StorageReserve?
    /// The budget of users without a purchase. Nil for no limit.
    let newcomers: NewcomerBudget?
    /// The ledger, whose queue of commits refuses writes without a proof first. Nil if there is none.
    let ledger: Ledger?
    /// The limit on log lines about errors.
    package let lines = LogLimit()
    private let hasWarnedAboutProxy = Atomic(false)

    /// - Parameter proxies: The number of trusted proxies before the service.
    package init(
        proxies: Int = 0,
        bodies: BodyBudget = BodyBudget(),
        requestsPerAddress: Int? = nil,
        reserve: StorageReserve? = nil,
        newcomers: NewcomerBudget? = nil,
        ledger: Ledger? = nil
    ) {
        addresses = ClientAddresses(proxies: proxies)
        self.bodies = bodies
        self.requestsPerAddress = requestsPerAddress
        self.reserve = reserve
        self.newcomers = newcomers
        self.ledger = ledger
    }

    /// Returns true on the first call only.
    func shouldWarnAboutProxy() -> Bool { !hasWarnedAboutProxy.exchange(true, ordering: .relaxed) }
}

/// A limit on each client address's requests in progress. It is for a service behind proxies, where one connection
/// carries the requests of many clients.
package final class OpenRequests: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    package init() {}

    /// Counts a request.
    ///
    /// - Returns: False if the address has reached its limit. Then the request is not counted.
    package func begin(from address: String, upTo limit: Int) -> Bool {
        counts.withLock { counts in
            let count = counts[address] ?? 0
            guard count < limit else { return false }
            counts[address] = count + 1
            return true
        }
    }

    /// Removes a finished request from the count.
    package func end(from address: String) {
        counts.withLock { counts in
            let left = (counts[address] ?? 0) - 1
            counts[address] = left > 0 ? left : nil
        }
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
        guard let limit = sharedLimits.requestsPerAddress else { return try await next(request, context) }
        let address = context.clientAddress(of: request)
        guard sharedLimits.openRequests.begin(from: address, upTo: limit) else {
            context.notes.code = Problem.tooBusy.code
            return try Problem.tooBusy.response()
        }
        defer { sharedLimits.openRequests.end(from: address) }
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

/// A limit on the concurrent work of one kind. Callers without a place wait in order.
package final class ConcurrencyLimit: Sendable {
    private struct Places {
        var free: Int
        var waiting = CircularBuffer<CheckedContinuation<Void, any Error>>()
    }

    private let places: Mutex<Places>
    private let maximumWaiting: Int

    /// - Parameters:
    ///   - maximum: The maximum number of concurrent jobs.
    ///   - maximumWaiting: The maximum number of waiting callers. Further callers are refused.
    package init(_ maximum: Int, maximumWaiting: Int) {
        places = Mutex(Places(free: maximum))
        self.maximumWaiting = maximumWaiting
    }

    /// Performs the work as soon as a place is free.
    ///
    /// - Throws: `Problem` with the code `tooBusy` if too many callers wait.
    package func run<Value>(_ work: () async throws -> Value) async throws -> Value {
        try await acquirePermit()
        defer { releasePermit() }
        return try await work()
    }

    private func acquirePermit() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let answer: Result<Void, any Error>? = places.withLock { places in
                if places.free > 0 {
                    places.free -= 1
                    return .success(())
                }
                guard places.waiting.count < maximumWaiting else { return .failure(Problem.tooBusy) }
                places.waiting.append(continuation)
                return nil
            }
            if let answer { continuation.resume(with: answer) }
        }
    }

    /// Gives the place to the caller that has waited longest.
    private func releasePermit() {
        let next = places.withLock { places in
            let next = places.waiting.popFirst()
            if next == nil { places.free += 1 }
            return next
        }
        next?.resume()
    }
}

extension Problem {
    package static let tooBusy = Problem(ErrorRule.tooBusy)
}
