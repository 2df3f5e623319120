import HTTPTypes
import Hummingbird
import Ledger
import Proofs

/// The rate limit of each caller (429, RFC 6585 section 4).
package struct RateLimitMiddleware: RouterMiddleware {
    private let keys: TokenBuckets
    private let users: TokenBuckets
    private let publicKeyAddresses: AddressBuckets

    package init(limits: RequestLimits, clock: any WallClock) {
        func rate(_ perMinute: Int) -> TokenBuckets.Rate { .init(atOnce: perMinute, perMinute: perMinute) }
        keys = TokenBuckets(rate(limits.perKey), clock: clock)
        users = TokenBuckets(rate(limits.perUser), clock: clock)
        publicKeyAddresses = AddressBuckets(rate(limits.perPublicKeyAddress), clock: clock)
    }

    package func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        switch try context.requiredCaller {
        case .backEnd(let key, _, _): try Self.admit(keys.take(key), keys.rate)
        case .app(let user, _): try Self.admit(users.take(IdempotencyKey.caller(user)), users.rate)
        case .publicApp(let key, _):
            try Self.admit(
                publicKeyAddresses.take(from: context.clientAddress(of: request), for: key), publicKeyAddresses.rate)
        }
        return try await next(request, context)
    }

    /// - Parameter seconds: The seconds until the next request is admitted; nil if this one is.
    private static func admit(_ seconds: Int?, _ rate: TokenBuckets.Rate) throws(Problem) {
        guard let seconds else { return }
        throw Problem(
            status: .tooManyRequests, code: "tooManyRequests",
            detail: "The limit is \(rate.perMinute) requests a minute. Wait \(seconds) seconds.",
            couldSucceedLater: true, retryAfter: seconds)
    }
}
