import HTTPTypes
import Hummingbird
import Ledger
import Proofs
import Synchronization

/// Token buckets, one per subject. Each holds a number of tokens and is refilled evenly.
///
/// The memory has a fixed size. A hash with a secret seed assigns a bucket to each subject. Two subjects with the same
/// bucket share its tokens.
package final class TokenBuckets: Sendable {
    package struct Rate: Sendable {
        /// The number of tokens in a full bucket.
        package let atOnce: Int
        package let perMinute: Int
        /// The number of tokens in a new bucket.
        let atStart: Int

        package init(atOnce: Int, perMinute: Int, atStart: Int? = nil) {
            self.atOnce = atOnce
            self.perMinute = perMinute
            self.atStart = atStart ?? atOnce
        }

        /// The rate of tokens that last for a day. At least one token comes back each minute.
        ///
        /// A process that starts again does not know the tokens that were taken before, so it begins with few of them.
        package init(perDay: Int) {
            self.init(atOnce: perDay, perMinute: max(1, perDay / 1440), atStart: perDay / 128)
        }

        package static func * (rate: Rate, factor: Int) -> Rate {
            Rate(atOnce: rate.atOnce * factor, perMinute: rate.perMinute * factor, atStart: rate.atStart * factor)
        }
    }

    private struct Bucket {
        /// The number of missing tokens times 60,000. With this factor, each millisecond refills a whole number.
        var taken: Int64
        /// The time of the last refill, in milliseconds since 1970.
        var countedAt: Int64
    }

    private static let cost: Int64 = 60_000
    private static let places = 1 << 16

    package let rate: Rate
    private let clock: any WallClock
    private let buckets: Mutex<[Bucket]>

    package init(_ rate: Rate, clock: any WallClock) {
        self.rate = rate
        self.clock = clock
        let new = Bucket(
            taken: Int64(rate.atOnce - rate.atStart) * Self.cost, countedAt: clock.now().millisecondsSince1970)
        buckets = Mutex([Bucket](repeating: new, count: Self.places))
    }

    /// Takes tokens, all or none.
    ///
    /// - Returns: Nil if they were available, otherwise the seconds until they are.
    package func take(_ subject: String, _ count: Int = 1) -> Int? {
        let cost = Int64(count) * Self.cost
        return change(subject) { bucket in
            let missing = bucket.taken + cost - Int64(rate.atOnce) * Self.cost
            guard missing > 0 else {
                bucket.taken += cost
                return nil
            }
            let perSecond = Int64(rate.perMinute) * 1000
            return Int((missing + perSecond - 1) / perSecond)
        }
    }

    /// Puts tokens back.
    package func returnToken(_ subject: String, times count: Int = 1) {
        change(subject) { $0.taken = max(0, $0.taken - Int64(count) * Self.cost) }
    }

    private func change<Value: Sendable>(_ subject: String, _ body: (inout Bucket) -> Value) -> Value {
        let now = clock.now().millisecondsSince1970
        let place = Int(UInt(bitPattern: ByteKey(subject).hashValue) % UInt(Self.places))
        return buckets.withLock { buckets in
            var bucket = buckets[place]
            // A clock that was set back refills nothing.
            let elapsed = bucket.taken == 0 ? 0 : max(0, now - bucket.countedAt)
            let refilled = elapsed.multipliedReportingOverflow(by: Int64(rate.perMinute))
            bucket.taken = refilled.overflow ? 0 : max(0, bucket.taken - refilled.partialValue)
            bucket.countedAt = now
            defer { buckets[place] = bucket }
            return body(&bucket)
        }
    }
}

/// The bytes that strangers may write in a day for users without a purchase: accounts, attributes, profiles, kept answers, log-ins and
/// refused purchases.
///
/// Anybody with an app's public key can invent customers, and anybody can sign up. They would fill the disk of the ledger. A user
/// with a purchase is not limited: the App Store vouches for the purchase.
package struct NewcomerBudget: Sendable {
    private let service: TokenBuckets
    private let addresses: AddressBuckets

    package init(_ limits: RequestLimits, clock: any WallClock) {
        service = TokenBuckets(.init(perDay: limits.newcomerBytesPerDay), clock: clock)
        addresses = AddressBuckets(.init(perDay: limits.newcomerBytesPerAddress), clock: clock)
    }

    /// Takes bytes for a client address, all or none.
    ///
    /// - Returns: Nil if they were available, otherwise the seconds until they are.
    fileprivate func take(_ bytes: Int, from address: String) -> Int? {
        if let seconds = service.take("", bytes) { return seconds }
        guard let seconds = addresses.take(bytes, from: address) else { return nil }
        service.returnToken("", times: bytes)
        return seconds
    }
}

extension ServiceContext {
    /// The allowance of a client's address for users without a purchase; nil for no limit.
    ///
    /// Back ends have no limit, nor has the app of a user whose token the team has issued.
    package func newcomers(for request: Request) -> NewcomerAllowance? {
        guard let newcomers = sharedLimits?.newcomers else { return nil }
        switch caller {
        case .backEnd: return nil
        case .app(let user, _) where user.issuer != User.accountIssuer: return nil
        case .app, .publicApp, nil: break
        }
        let address = clientAddress(of: request)
        let isAlmostFull = isStorageAlmostFull
        return NewcomerAllowance(of: address) { isAlmostFull ? 60 : newcomers.take($0, from: address) }
    }
}

/// Token buckets of client addresses. A holder of an IPv6 site has 65,536 networks of 64 bits, so the networks of one site share a
/// wider bucket, too.
package struct AddressBuckets: Sendable {
    /// The tokens of a site, in those of one of its networks.
    package static let networksPerSite = 16

    private let networks: TokenBuckets
    private let sites: TokenBuckets

    /// - Parameter rate: The rate of one address; of IPv6, of one network of 64 bits.
    package init(_ rate: TokenBuckets.Rate, clock: any WallClock) {
        networks = TokenBuckets(rate, clock: clock)
        sites = TokenBuckets(rate * Self.networksPerSite, clock: clock)
    }

    /// The rate of one address.
    package var rate: TokenBuckets.Rate { networks.rate }

    /// Takes tokens of an address. An address at its own limit takes nothing from the other networks of its site.
    ///
    /// - Parameters:
    ///   - address: The address that identifies a client (`ClientAddresses`).
    ///   - subject: The subject for which the addresses are counted, such as a public key.
    /// - Returns: Nil if the tokens were available, otherwise the seconds until they are.
    package func take(_ count: Int = 1, from address: String, for subject: String = "") -> Int? {
        if let seconds = networks.take("\(subject) \(address)", count) { return seconds }
        guard let site = ClientAddresses.site(of: address) else { return nil }
        guard let seconds = sites.take("\(subject) \(site)", count) else { return nil }
        networks.returnToken("\(subject) \(address)", times: count)
        return seconds
    }

    /// Puts a token of an address back.
    package func returnToken(from address: String) {
        networks.returnToken(" \(address)")
        if let site = ClientAddresses.site(of: address) { sites.returnToken(" \(site)") }
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
    /// The bytes of one client address.
    package var newcomerBytesPerAddress = 8 << 20

    package init() {}
}

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
                publicKeyAddresses.take(from: context.clientAddress(of: request), for: key), publicKeyAddresses.rate)
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
