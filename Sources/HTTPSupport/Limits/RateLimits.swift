import HTTPTypes
import Hummingbird
import Ledger
import Proofs
import Vocabulary

/// The bytes that strangers may write in a day for users without a purchase: accounts, attributes, profiles, kept answers, log-ins and
/// refused purchases.
///
/// Anybody with an app's public key can invent customers, and anybody can sign up. They would fill the disk of the ledger. A user
/// with a purchase is not limited: the App Store vouches for the purchase.
package struct NewcomerBudget: Sendable {
    /// The first bytes of a site in a day, for about nine accounts.
    private static let firstBytes = 16 << 10

    private let budget: SharedBudget

    package init(_ limits: RequestLimits, clock: any WallClock) {
        budget = SharedBudget(
            TokenBuckets.Rate(perDay: limits.newcomerBytesPerDay),
            host: TokenBuckets.Rate(perDay: limits.newcomerBytesPerAddress),
            .init(first: min(Self.firstBytes, limits.newcomerBytesPerDay / 64)), clock: clock)
    }

    /// Takes bytes for a client network, all or none.
    ///
    /// - Returns: Nil if they were available, otherwise the seconds until they are.
    fileprivate func take(_ bytes: Int, from network: ClientNetwork) -> Int? {
        switch budget.take(bytes, from: network) {
        case .granted: nil
        case .refused(let seconds): seconds
        }
    }
}

extension ServiceContext {
    /// The allowance of a client's network for users without a purchase; nil for no limit.
    ///
    /// Back ends have no limit, nor has the app of a user whose token the team has issued.
    package func newcomers(for request: Request) -> NewcomerAllowance? {
        guard let newcomers = sharedLimits?.newcomers else { return nil }
        switch caller {
        case .backEnd: return nil
        case .app(let user, _) where user.issuer != User.accountIssuer: return nil
        case .app, .publicApp, nil: break
        }
        let network = clientNetwork(of: request)
        let isAlmostFull = isStorageAlmostFull
        return NewcomerAllowance(of: network) { isAlmostFull ? 60 : newcomers.take($0, from: network) }
    }
}

/// The rate limits of callers, in requests per minute, and the budgets of strangers, in bytes per day.
package struct RequestLimits: Sendable {
    package var perKey = 6000
    package var perUser = 300
    /// The limit of each client address with a public key. Customers of a mobile network share an address. A public key itself has
    /// no limit: all installations of an app hold it, so strangers would use it up.
    package var perPublicKeyAddress = 1200
    /// The bytes that public callers may write in a day for customers without a purchase.
    package var newcomerBytesPerDay = 128 << 20
    package var newcomerBytesPerAddress = 8 << 20

    package init() {}
}

/// The rate limit of each caller (429, RFC 6585 section 4).
package struct RateLimitMiddleware: RouterMiddleware {
    private let keys: TokenBuckets
    private let users: TokenBuckets
    private let publicKeyNetworks: NetworkBuckets

    package init(limits: RequestLimits, clock: any WallClock) {
        func rate(_ perMinute: Int) -> TokenBuckets.Rate { .init(atOnce: perMinute, perMinute: perMinute) }
        keys = TokenBuckets(rate(limits.perKey), clock: clock)
        users = TokenBuckets(rate(limits.perUser), clock: clock)
        publicKeyNetworks = NetworkBuckets(rate(limits.perPublicKeyAddress), clock: clock)
    }

    package func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        try admit(request, context)
        return try await next(request, context)
    }

    /// Takes a token of the caller.
    func admit(_ request: Request, _ context: ServiceContext) throws(Problem) {
        switch try context.requiredCaller {
        case .backEnd(let key, _, _): try Self.admit(keys.take(key), keys.rate)
        case .app(let user, _): try Self.admit(users.take(IdempotencyKey.caller(user)), users.rate)
        case .publicApp(let key, _):
            try Self.admit(
                publicKeyNetworks.take(from: context.clientNetwork(of: request), for: key), publicKeyNetworks.rate)
        }
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
