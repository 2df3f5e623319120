import Commerce
import Logging
import Signatures
import StrictJSON
import Synchronization

/// Which tokens are accepted of apps' users.
public struct TokenSettings: Sendable {
    /// What a token's `iss` has to be.
    public var issuer: String
    /// The accepted audiences, of which a token has to hold one.
    public var audiences: [TokenAudience]
    public var keys: TokenKeySource
    public var algorithms: Set<TokenAlgorithm>

    public init(
        issuer: String,
        audiences: [TokenAudience],
        keys: TokenKeySource,
        algorithms: Set<TokenAlgorithm> = [.rs256, .es256]
    ) {
        self.issuer = issuer
        self.audiences = audiences
        self.keys = keys
        self.algorithms = algorithms
    }
}

/// The tokens (JWT, RFC 7519) by which an app's users are known: of one issuer, for one audience.
///
/// A token that was verified is remembered until it expires, for an hour at most, and until the issuer's keys are loaded anew,
/// so that a user's next request costs a hash.
public final class UserTokens: Sendable {
    private static let maximumRemembered = 10_000
    /// Milliseconds after which a token is verified again, with the issuer's keys of then.
    private static let rememberedFor: Int64 = 3_600_000
    /// Milliseconds by which an issuer's clock may be ahead.
    private static let clockSkew: Int64 = 60_000
    /// The largest NumericDate read: the end of the year 9999.
    private static let latestDate = 253_402_300_799.0

    private let settings: TokenSettings
    private let keys: TokenKeys
    private let clock: any WallClock
    private let acceptsAnySpelling: @Sendable (User) async throws -> Bool
    /// By the token's SHA-256.
    private let remembered = Mutex<[[UInt8]: Remembered]>([:])

    /// What a token was found to be.
    private struct Remembered {
        let caller: Caller
        let expiresAt: Timestamp
        let verifiedAt: Timestamp
        /// Of the keys it was verified with.
        let generation: Int
    }

    /// - Parameter acceptsAnySpelling: Whether the `sub` of a user's token need not be in Unicode's composed form (NFC).
    public init(
        _ settings: TokenSettings,
        clock: any WallClock,
        logger: Logger,
        acceptsAnySpelling: @escaping @Sendable (User) async throws -> Bool = { _ in false }
    ) {
        self.settings = settings
        self.acceptsAnySpelling = acceptsAnySpelling
        self.clock = clock
        keys = TokenKeys(source: settings.keys, allowing: settings.algorithms, clock: clock, logger: logger)
    }

    package var issuer: String { settings.issuer }

    /// Loads the issuer's keys before the first token asks for them.
    public func prepare() async throws(TokenKeysError) {
        try await keys.load()
    }

    /// The caller who presents a token.
    ///
    /// - Throws: `Problem`: `tokenInvalid`, `tokenExpired`, or `tokenKeysUnavailable` while the issuer's keys cannot be had.
    package func caller(presenting token: String) async throws(Problem) -> Caller {
        try SignedToken.checkSize(token.utf8.count)
        let bytes = Array(token.utf8)
        let digest = DigestAlgorithm.sha256.digest(of: bytes)
        let now = clock.now()
        let generation = keys.generation
        if let known = remembered.withLock({ $0[digest] }), known.generation == generation,
            abs(now.millisecondsSince1970 - known.verifiedAt.millisecondsSince1970) < Self.rememberedFor
        {
            guard now < known.expiresAt else { throw .tokenExpired }
            return known.caller
        }
        let (caller, expiresAt) = try await verify(bytes, at: now)
        // The generation before: keys loaded meanwhile may be others.
        remember(
            Remembered(caller: caller, expiresAt: expiresAt, verifiedAt: now, generation: generation), digest, at: now)
        return caller
    }

    private func verify(_ bytes: [UInt8], at now: Timestamp) async throws(Problem) -> (Caller, Timestamp) {
        let token = try SignedToken(compact: bytes)
        let key: TokenKey?
        do { key = try await keys.key(token.keyIdentifier ?? "") } catch { throw .tokenKeysUnavailable }
        guard let key else { throw .tokenInvalid("its issuer has no key of its kid") }
        // The key says how it signs; a token that could choose would choose the weakest.
        guard key.algorithm.rawValue.hasSameBytes(as: token.algorithm) else {
            throw .tokenInvalid("its alg is not its key's, or not allowed")
        }
        guard token.isSigned(by: key), let claims = try? Claims(token.claims) else {
            throw .tokenInvalid("its signature does not hold, or iss, sub, aud or exp is missing or of another type")
        }
        return try await judge(claims, at: now)
    }

    private func judge(_ claims: Claims, at now: Timestamp) async throws(Problem) -> (Caller, Timestamp) {
        guard claims.iss.hasSameBytes(as: issuer) else { throw .tokenInvalid("it is of another issuer") }
        let audiences = settings.audiences.filter { audience in
            claims.aud.contains { $0.hasSameBytes(as: audience.name) }
        }
        guard let audience = audiences.first else { throw .tokenInvalid("it is for another audience") }
        guard let expiresAt = Self.timestamp(claims.exp), let notBefore = Self.timestamp(claims.nbf ?? 0) else {
            throw .tokenInvalid("one of its dates is none")
        }
        guard now < expiresAt else { throw .tokenExpired }
        guard notBefore.millisecondsSince1970 <= now.millisecondsSince1970 + Self.clockSkew else {
            throw .tokenInvalid("it is not valid yet")
        }
        guard let user = User(issuer: issuer, name: claims.sub) else {
            throw .tokenInvalid("its sub is not 1 to \(User.maximumLength) bytes without spaces or control characters")
        }
        // Two subjects that differ in their bytes alone must not become one user.
        var isAccepted = user.name.hasSameBytes(as: claims.sub)
        if !isAccepted { isAccepted = try await isOfAnySpelling(user) }
        guard isAccepted else {
            throw .tokenInvalid("its sub is not in Unicode's composed form (NFC)")
        }
        // A token for several audiences is for none of their apps alone.
        return (.app(user, app: audiences.count == 1 ? audience.app : nil), expiresAt)
    }

    /// A ledger that cannot be read now refuses the token, and the app tries again.
    private func isOfAnySpelling(_ user: User) async throws(Problem) -> Bool {
        do {
            return try await acceptsAnySpelling(user)
        } catch { throw Problem(error) ?? .unexpected }
    }

    private func remember(_ token: Remembered, _ digest: [UInt8], at now: Timestamp) {
        remembered.withLock { remembered in
            if remembered.count >= Self.maximumRemembered {
                remembered = remembered.filter { now < $0.value.expiresAt }
                if remembered.count >= Self.maximumRemembered { remembered = [:] }
            }
            remembered[digest] = token
        }
    }

    private static func timestamp(_ numericDate: Double) -> Timestamp? {
        guard (0...latestDate).contains(numericDate) else { return nil }
        return Timestamp(millisecondsSince1970: Int64(numericDate * 1000))
    }

    /// What is read of a token (RFC 7519 section 4.1); dates in seconds since 1970.
    private struct Claims {
        let iss: String
        let sub: String
        let aud: [String]
        let exp: Double
        let nbf: Double?

        init(_ claims: TokenClaims) throws(TokenClaims.Malformed) {
            iss = try claims.text("iss")
            sub = try claims.text("sub")
            aud = try claims.audiences()
            exp = try claims.date("exp")
            nbf = try claims.optionalDate("nbf")
        }
    }
}

extension Problem {
    package static func tokenInvalid(_ reason: String) -> Problem {
        Problem(status: .unauthorized, code: "tokenInvalid", detail: "The token is not accepted: \(reason).")
    }

    package static let tokenExpired = Problem(
        status: .unauthorized, code: "tokenExpired",
        detail: "The token has expired: get a new one from its issuer, or for the refresh token.")

    fileprivate static let tokenKeysUnavailable = Problem(
        status: .serviceUnavailable, code: "tokenKeysUnavailable",
        detail: "The keys of the token's issuer cannot be had now: try again later.",
        couldSucceedLater: true, retryAfter: 60)
}
