import Commerce
import HTTPTypes
import Hummingbird
import Synchronization

/// How many requests each caller may send: so many at once, and as many again in each minute, evenly.
final class RateLimiter: Sendable {
    /// What a caller has left.
    private struct Allowance {
        /// In requests times 60,000, so that a millisecond refills a whole number of them.
        var remaining: Int64
        /// Milliseconds since 1970.
        var countedAt: Int64
    }

    private static let cost: Int64 = 60_000
    /// With more callers than so many, those that have all of their allowance again are forgotten.
    private static let maximumRemembered = 10_000

    let requestsPerMinute: Int
    private let clock: any WallClock
    /// By the caller's name. Only callers with a good key or token get in.
    private let allowances = Mutex<[String: Allowance]>([:])

    init(requestsPerMinute: Int, clock: any WallClock) {
        self.requestsPerMinute = requestsPerMinute
        self.clock = clock
    }

    /// Counts a request.
    ///
    /// - Returns: nil when it may be answered; otherwise after how many seconds the next one may.
    func count(_ caller: String) -> Int? {
        let now = clock.now().millisecondsSince1970
        let perMillisecond = Int64(requestsPerMinute)
        let full = perMillisecond * Self.cost
        return allowances.withLock { allowances in
            if allowances.count >= Self.maximumRemembered, allowances[caller] == nil {
                allowances = allowances.filter { now - $0.value.countedAt < Self.cost }
            }
            var allowance = allowances[caller] ?? Allowance(remaining: full, countedAt: now)
            // A clock that was set back refills nothing and takes nothing; a minute refills everything.
            let elapsed = min(max(0, now - allowance.countedAt), Self.cost)
            allowance.remaining = min(full, allowance.remaining + elapsed * perMillisecond)
            allowance.countedAt = now
            defer { allowances[caller] = allowance }
            let missing = Self.cost - allowance.remaining
            guard missing > 0 else {
                allowance.remaining -= Self.cost
                return nil
            }
            return Int((missing + perMillisecond * 1000 - 1) / (perMillisecond * 1000))
        }
    }
}

/// How many requests each caller may send in a minute.
public struct RequestLimits: Sendable {
    public var perKey: Int
    public var perUser: Int

    public init(perKey: Int = 6000, perUser: Int = 300) {
        self.perKey = perKey
        self.perUser = perUser
    }
}

/// Turns callers away who send more than they may (429, RFC 6585 section 4).
struct RateLimitMiddleware: RouterMiddleware {
    private let keys: RateLimiter
    private let users: RateLimiter

    init(limits: RequestLimits, clock: any WallClock) {
        keys = RateLimiter(requestsPerMinute: limits.perKey, clock: clock)
        users = RateLimiter(requestsPerMinute: limits.perUser, clock: clock)
    }

    func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        let caller = try context.requiredCaller
        let limiter =
            switch caller {
            case .backEnd: keys
            case .app: users
            }
        if let seconds = limiter.count(caller.name) {
            throw Problem(
                status: .tooManyRequests, code: "tooManyRequests",
                detail: "This caller may send \(limiter.requestsPerMinute) requests a minute: wait \(seconds) seconds.",
                couldSucceedLater: true, retryAfter: seconds)
        }
        return try await next(request, context)
    }
}
