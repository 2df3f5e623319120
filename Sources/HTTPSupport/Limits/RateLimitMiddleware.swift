import Commerce
import HTTPTypes
import Hummingbird
import Ledger

/// The rate limit of each caller (429, RFC 6585 section 4).
package struct RateLimitMiddleware: RouterMiddleware {
    private let keys: TokenBuckets
    private let users: TokenBuckets
    private let publicKeys: TokenBuckets
    private let publicKeyAddresses: TokenBuckets

    package init(limits: RequestLimits, clock: any WallClock) {
        func buckets(_ perMinute: Int) -> TokenBuckets {
            TokenBuckets(.init(atOnce: perMinute, perMinute: perMinute), clock: clock)
        }
        keys = buckets(limits.perKey)
        users = buckets(limits.perUser)
        publicKeys = buckets(limits.perPublicKey)
        publicKeyAddresses = buckets(limits.perPublicKeyAddress)
    }

    package func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        switch try context.requiredCaller {
        case .backEnd(let key, _, _): try Self.take(key, from: keys)
        case .app(let user, _): try Self.take(IdempotencyKey.caller(user), from: users)
        case .publicApp(let key, _):
            // An address at its own limit takes nothing from the other installations of the app.
            try Self.take(key + " " + context.clientAddress(of: request), from: publicKeyAddresses)
            try Self.take(key, from: publicKeys)
        }
        return try await next(request, context)
    }

    private static func take(_ subject: String, from buckets: TokenBuckets) throws(Problem) {
        guard let seconds = buckets.take(subject) else { return }
        throw Problem(
            status: .tooManyRequests, code: "tooManyRequests",
            detail: "The limit is \(buckets.rate.perMinute) requests a minute. Wait \(seconds) seconds.",
            couldSucceedLater: true, retryAfter: seconds)
    }
}
