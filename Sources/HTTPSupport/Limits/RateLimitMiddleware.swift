import Commerce
import HTTPTypes
import Hummingbird

/// The rate limit of each caller (429, RFC 6585 section 4).
package struct RateLimitMiddleware: RouterMiddleware {
    private let keys: TokenBuckets
    private let users: TokenBuckets

    package init(limits: RequestLimits, clock: any WallClock) {
        keys = TokenBuckets(.init(atOnce: limits.perKey, perMinute: limits.perKey), clock: clock)
        users = TokenBuckets(.init(atOnce: limits.perUser, perMinute: limits.perUser), clock: clock)
    }

    package func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        let caller = try context.requiredCaller
        let buckets =
            switch caller {
            case .backEnd: keys
            case .app: users
            }
        if let seconds = buckets.take(caller.name) {
            throw Problem(
                status: .tooManyRequests, code: "tooManyRequests",
                detail: "The limit is \(buckets.rate.perMinute) requests a minute. Wait \(seconds) seconds.",
                couldSucceedLater: true, retryAfter: seconds)
        }
        return try await next(request, context)
    }
}
