import Ledger
import Logging
import Proofs
import Vocabulary

/// The rules for accepting users' tokens.
package struct TokenSettings: Sendable {
    /// An accepted audience of tokens (`aud`, RFC 7519 section 4.1.3).
    ///
    /// - Parameter app: The bundle identifier of the app for which tokens of this audience are valid. Nil for all apps.
    package typealias Audience = (name: String, app: String?)

    /// The required `iss` of a token.
    package var issuer: String
    /// The accepted audiences. A token must name at least one.
    package var audiences: [Audience]
    package var keys: TokenKeySource
    package var algorithms: Set<TokenAlgorithm>

    package init(
        issuer: String,
        audiences: [Audience],
        keys: TokenKeySource,
        algorithms: Set<TokenAlgorithm> = [.rs256, .es256]
    ) {
        self.issuer = issuer
        self.audiences = audiences
        self.keys = keys
        self.algorithms = algorithms
    }
}

/// The tokens of apps' users (JWT, RFC 7519), from one issuer.
///
/// A verified token is cached until it expires, until the issuer's keys are loaded again, or for at most an hour. The
/// user's next request then costs only a hash.
package final class UserTokens: Sendable {
    /// The largest number of cached tokens.
    private static let cacheCapacity = 10_000
    /// The milliseconds after which a cached token is verified again, with the issuer's current keys.
    private static let cacheLifetime: Int64 = 3_600_000
    /// The milliseconds by which the issuer's clock may be ahead.
    private static let clockSkew: Int64 = 60_000
    /// The maximum NumericDate: the end of the year 9999.
    private static let latestDate = 253_402_300_799.0

    private let settings: TokenSettings
    private let keys: TokenKeys
    private let clock: any WallClock
    private let blockedNames: BlockedNames
    /// The verified tokens by SHA-256.
    private let cache = RecentValues<[UInt8], CachedToken>(upTo: cacheCapacity)

    private struct CachedToken: Sendable {
        let caller: Caller
        let expiresAt: Timestamp
        let verifiedAt: Timestamp
        /// The generation of the keys that verified the token.
        let generation: Int
    }

    /// - Parameter blockedNames: The names that stand for no user.
    package init(
        _ settings: TokenSettings,
        clock: any WallClock,
        logger: Logger,
        blockedNames: BlockedNames = .standard
    ) {
        self.settings = settings
        self.blockedNames = blockedNames
        self.clock = clock
        keys = TokenKeys(settings, clock: clock, logger: logger)
    }

    package var issuer: String { settings.issuer }

    /// Loads the issuer's keys before the first token needs them.
    package func prepare() async throws(TokenKeysError) {
        try await keys.load()
    }

    /// Returns the caller that presents a token.
    ///
    /// - Throws: `Problem` with the code `tokenInvalid`, `tokenExpired`, or `tokenKeysUnavailable` if the issuer's keys
    ///   cannot be loaded.
    package func caller(presenting token: String) async throws(Problem) -> Caller {
        try SignedToken.checkSize(token.utf8.count)
        let bytes = Array(token.utf8)
        let digest = DigestAlgorithm.sha256.digest(of: bytes)
        let now = clock.now()
        let generation = keys.generation
        if let known = cache[digest], known.generation == generation,
            abs(now.millisecondsSince1970 - known.verifiedAt.millisecondsSince1970) < Self.cacheLifetime
        {
            guard now < known.expiresAt else { throw .tokenExpired }
            return known.caller
        }
        let (caller, expiresAt) = try await verify(bytes, at: now)
        // The generation from before the verification, because the keys may have changed meanwhile.
        cache.keep(
            CachedToken(caller: caller, expiresAt: expiresAt, verifiedAt: now, generation: generation), for: digest,
            size: 1)
        return caller
    }

    private func verify(_ bytes: [UInt8], at now: Timestamp) async throws(Problem) -> (Caller, Timestamp) {
        let token = try SignedToken(compact: bytes)
        let key: TokenKey?
        do { key = try await keys.key(token.keyIdentifier ?? "") } catch { throw .tokenKeysUnavailable }
        guard let key else { throw .tokenInvalid("its issuer has no key with its kid") }
        // The key determines the algorithm. An attacker's token would choose the weakest.
        guard key.algorithm.rawValue.hasSameBytes(as: token.algorithm) else {
            throw .tokenInvalid("its alg must be its key's and an allowed one")
        }
        let claims = token.claims
        // Dates are in seconds since 1970 (RFC 7519 section 4.1).
        guard token.isSigned(by: key), let issuer = claims.text("iss"), let subject = claims.text("sub"),
            let named = claims.audiences, let end = claims.date("exp"), let start = claims.date("nbf", else: 0)
        else { throw .tokenInvalid("its signature is invalid, or iss, sub, aud or exp is missing or of another type") }
        guard issuer.hasSameBytes(as: self.issuer) else { throw .tokenInvalid("it is from another issuer") }
        let audiences = settings.audiences.filter { audience in
            named.contains { $0.hasSameBytes(as: audience.name) }
        }
        guard let audience = audiences.first else { throw .tokenInvalid("it is for another audience") }
        guard let expiresAt = Self.timestamp(end), let notBefore = Self.timestamp(start) else {
            throw .tokenInvalid("one of its dates is out of range")
        }
        guard now < expiresAt else { throw .tokenExpired }
        guard notBefore.millisecondsSince1970 <= now.millisecondsSince1970 + Self.clockSkew else {
            throw .tokenInvalid("it is not valid yet", couldSucceedLater: true)
        }
        guard let user = User(issuer: self.issuer, name: subject) else {
            throw .tokenInvalid(
                "its sub must have 1 to \(User.maximumLength) bytes without spaces or control characters")
        }
        guard !blockedNames.contains(user) else {
            throw .tokenInvalid("its sub stands for no user, like \"null\", or the setting blocked-user-names has it")
        }
        // Two subjects that differ only in their bytes must not become one user.
        guard user.name.hasSameBytes(as: subject) else {
            throw .tokenInvalid("its sub must be in Unicode's composed form (NFC)")
        }
        // A token for several audiences is not limited to the app of one of them.
        return (.app(user, app: audiences.count == 1 ? audience.app : nil), expiresAt)
    }

    private static func timestamp(_ numericDate: Double) -> Timestamp? {
        guard (0...latestDate).contains(numericDate) else { return nil }
        return Timestamp(millisecondsSince1970: Int64(numericDate * 1000))
    }
}

extension Problem {
    package static func tokenInvalid(_ reason: String, couldSucceedLater: Bool = false) -> Problem {
        Problem(
            status: .unauthorized, code: "tokenInvalid", detail: "The token is not accepted: \(reason).",
            couldSucceedLater: couldSucceedLater)
    }

    package static let tokenExpired = Problem(
        status: .unauthorized, code: "tokenExpired",
        detail: "The token has expired. Get a new one from its issuer or with the refresh token.")

    package static let tokenKeysUnavailable = Problem(
        status: .serviceUnavailable, code: "tokenKeysUnavailable",
        detail: "The keys of the token's issuer are not available. Try again later.",
        couldSucceedLater: true, retryAfter: 60)
}

/// A JWT in the compact form of a JWS (RFC 7519 section 3, RFC 7515 section 7.1). The strict reader accepts one
/// spelling.
///
/// The initializer checks only the form. Trust no claim before `isSigned(by:)` returns true.
package struct SignedToken: Sendable {
    /// The maximum size of a token, in bytes.
    private static let maximumSize = 8 * 1024
    /// The maximum length of a claim's key, in bytes.
    private static let maximumKeyLength = 256

    package let algorithm: String
    /// The `kid` of the header. Nil if there is none.
    package let keyIdentifier: String?
    package let claims: TokenClaims
    /// The encoded header and payload with the dot between them.
    private let signedBytes: [UInt8]
    private let signature: [UInt8]

    /// True if a credential has a dot, which stands between the parts of each token (RFC 7515 section 7.1) and in no API key.
    static func mayBe(_ credential: String) -> Bool {
        credential.utf8.contains(UInt8(ascii: "."))
    }

    /// - Throws: `Problem` with the code `tokenInvalid`.
    package init(compact bytes: [UInt8]) throws(Problem) {
        try Self.checkSize(bytes.count)
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let headerBytes = Base64.decode(parts[0], .urlSafe),
            let payload = Base64.decode(parts[1], .urlSafe), let signature = Base64.decode(parts[2], .urlSafe),
            case .object(let header)? = try? JSONParser.parse(headerBytes),
            // Till supports no critical parameter (RFC 7515 section 4.1.11).
            case .string(let algorithm) = header["alg"], header["crit"] == nil,
            // Comparing non-ASCII strings by canonical equivalence takes quadratic time on combining marks.
            JSONValue.object(header).isASCII,
            case .object(let claims)? = try? JSONParser.parse(payload),
            claims.keys.allSatisfy({ $0.utf8.count <= Self.maximumKeyLength })
        else { throw .tokenInvalid("it must be a signed JWT") }
        switch header["kid"] {
        case .string(let identifier): keyIdentifier = identifier
        case nil: keyIdentifier = nil
        default: throw .tokenInvalid("its kid must be a string")
        }
        self.algorithm = algorithm
        self.claims = TokenClaims(object: claims)
        self.signature = signature
        signedBytes = Array(bytes[..<parts[1].endIndex])
    }

    /// Refuses a token that is too large before anything reads it.
    package static func checkSize(_ count: Int) throws(Problem) {
        guard count <= maximumSize else { throw .tokenInvalid("it has more than \(maximumSize) bytes") }
    }

    /// True if the signature is valid under the key, with the key's own algorithm.
    package func isSigned(by key: TokenKey) -> Bool {
        key.algorithm.rawValue.hasSameBytes(as: algorithm) && key.verifies(signature, over: signedBytes)
    }
}

/// Typed access to the claims of a token (RFC 7519 section 4).
package struct TokenClaims: Sendable {
    package let object: JSONObject

    /// The text of a claim; nil for a missing claim, or one of another type.
    package func text(_ name: String) -> String? {
        if case .string(let text) = object[name] { text } else { nil }
    }

    /// The truth of a claim; nil for a missing claim, or one of another type.
    package func flag(_ name: String) -> Bool? {
        if case .bool(let flag) = object[name] { flag } else { nil }
    }

    /// The audiences of `aud`, which is a string or an array of strings (RFC 7519 section 4.1.3); nil for anything else.
    package var audiences: [String]? {
        guard case .array(let elements) = object["aud"] else { return text("aud").map { [$0] } }
        let audiences = elements.compactMap { if case .string(let audience) = $0 { audience } else { nil } }
        return audiences.count == elements.count ? audiences : nil
    }

    /// A NumericDate (RFC 7519 section 2), in seconds since 1970; nil for a missing claim, or one of another type.
    ///
    /// - Parameter standard: The date if the claim is missing or null.
    package func date(_ name: String, else standard: Double? = nil) -> Double? {
        switch object[name] {
        case nil, .null: standard
        case .number(let number): number.double
        default: nil
        }
    }
}

extension JSONValue {
    /// True if every key and string is ASCII.
    fileprivate var isASCII: Bool {
        switch self {
        case .object(let object):
            object.members.allSatisfy { $0.key.utf8.allSatisfy { $0 < 0x80 } && $0.value.isASCII }
        case .array(let elements): elements.allSatisfy(\.isASCII)
        case .string(let text): text.utf8.allSatisfy { $0 < 0x80 }
        case .number, .bool, .null: true
        }
    }
}
