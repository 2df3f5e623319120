import Hummingbird
import Ledger
import Proofs
import Vocabulary

/// The authentication of the service's callers.
package enum Authentication: Sendable {
    /// Back ends use the ledger's API keys. Apps use their users' tokens, from an accepted issuer or from the service's
    /// own accounts.
    case apiKeys(APIKeys, UserTokens? = nil, (any AccessTokens)? = nil)
    /// Back ends use one key with every scope that only this process knows.
    case processKey(APIKey)

    /// The same without users' tokens: for callers with keys alone.
    package var ofKeys: Authentication {
        guard case .apiKeys(let keys, _, _) = self else { return self }
        return .apiKeys(keys)
    }

    /// The accepted token issuers.
    package var issuers: [String] {
        guard case .apiKeys(_, let tokens, let accounts) = self else { return [] }
        return [tokens?.issuer, accounts.map { _ in User.accountIssuer }].compactMap(\.self)
    }

    /// The sentence about users' tokens in the refusal of a key, which may have been meant as a token. It depends on no key.
    fileprivate var tokenHint: String {
        guard case .apiKeys(_, .some, _) = self else {
            return issuers.isEmpty ? "To accept users' tokens, set jwt-issuer." : ""
        }
        return "A user's token must be a signed JWT."
    }

    /// True if back ends may name the users of any issuer: a command knows no settings of a service.
    package var acceptsAnyIssuer: Bool {
        if case .processKey = self { true } else { false }
    }

    /// - Returns: Nil if no caller has the credential.
    package func caller(presenting credential: String) async throws -> Caller? {
        switch self {
        case .apiKeys(let keys, let tokens, let accounts):
            if let caller = try await accounts?.caller(presenting: credential) { return caller }
            if let tokens, !APIKeys.isKey(credential), SignedToken.mayBe(credential) {
                return try await tokens.caller(presenting: credential)
            }
            return try await keys.caller(presenting: credential)
        case .processKey(let own):
            return own.matches(credential) ? .backEnd(key: "process", scopes: Set(APIKeyScope.allCases), app: nil) : nil
        }
    }

    /// The caller of metrics, whose key is remembered while the ledger is away.
    fileprivate func callerOfMetrics(presenting credential: String) async throws -> Caller? {
        guard case .apiKeys(let keys, _, _) = self, APIKeys.isKey(credential) else {
            return try await caller(presenting: credential)
        }
        return try await keys.callerOfMetrics(presenting: credential)
    }
}

/// The access tokens of the service's own accounts, which are a feature above this module.
package protocol AccessTokens: Sendable {
    /// - Returns: Nil for a credential of another kind.
    /// - Throws: `Problem` for an access token that is not, or no longer, valid.
    func caller(presenting credential: String) async throws -> Caller?
}

/// Authenticates a request by the bearer token in its `Authorization` header (RFC 6750), stores the caller in the context, and
/// takes a token of the caller's rate limit. It refuses the public keys of apps, except on the routes that are made for them.
package struct AuthenticationMiddleware: RouterMiddleware {
    let authentication: Authentication
    /// The rate limits of callers; nil for none.
    let limits: RateLimitMiddleware?
    let acceptsPublicKeys: Bool
    /// True for routes that answer while the ledger is away.
    var isForMetrics = false

    package func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        guard let credential = Self.credential(of: request) else {
            throw Problem(
                status: .unauthorized, code: "unauthenticated",
                detail: "Send an API key or a user's token as a bearer token in the Authorization header. "
                    + "`till keys make` creates an API key.")
        }
        let caller =
            if isForMetrics {
                try await authentication.callerOfMetrics(presenting: credential)
            } else {
                try await authentication.caller(presenting: credential)
            }
        guard let caller else {
            throw Problem(
                status: .unauthorized, code: "keyInvalid",
                detail: "The API key is unknown or was revoked. `till keys list` shows the valid keys. "
                    + authentication.tokenHint)
        }
        guard acceptsPublicKeys || !caller.isPublicApp else { throw Problem.publicKeyNotAllowed }
        var context = context
        context.caller = caller
        try limits?.admit(request, context)
        return try await next(request, context)
    }

    /// The bearer token of a request. Nil if there is none.
    package static func credential(of request: Request) -> String? {
        let scheme = "bearer ".utf8
        // In ASCII, a capital letter lacks the bit 0x20. A field contains no control characters.
        guard let header = request.headers[.authorization]?.utf8, header.count >= scheme.count,
            zip(header, scheme).allSatisfy({ $0 | 0x20 == $1 })
        else { return nil }
        return String(Substring(header.dropFirst(scheme.count)))
    }
}

extension RouterGroup where Context == ServiceContext {
    /// Returns a group with the same path whose callers are authenticated.
    ///
    /// - Parameters:
    ///   - limits: The rate limits of callers; nil for none.
    ///   - acceptsPublicKeys: True if every route of the group names its callers, for routes for public keys.
    ///   - isForMetrics: True for routes that answer while the ledger is away.
    package func authenticated(
        by authentication: Authentication, within limits: RateLimitMiddleware? = nil, acceptsPublicKeys: Bool = false,
        isForMetrics: Bool = false
    ) -> RouterGroup<ServiceContext> {
        group().add(
            middleware: AuthenticationMiddleware(
                authentication: authentication, limits: limits, acceptsPublicKeys: acceptsPublicKeys,
                isForMetrics: isForMetrics))
    }
}

extension Problem {
    static let publicKeyNotAllowed = Problem(
        status: .forbidden, code: "keyRequired",
        detail: "The public key of an app is not valid for this path. Use a back end's API key or a user's token.")
}

/// A secret with which a caller shows that it may use the service; only its hash is kept.
package struct APIKey: Sendable {
    private let digest: [UInt8]

    package init(_ secret: String) {
        digest = Self.digest(of: secret)
    }

    package func matches(_ presented: some StringProtocol) -> Bool {
        ConstantTime.areEqual(Self.digest(of: String(presented)), digest)
    }

    private static func digest(of secret: String) -> [UInt8] {
        DigestAlgorithm.sha256.digest(of: Array(secret.utf8))
    }
}

/// The caller of a request, as far as the service needs to know.
package enum Caller: Hashable, Sendable {
    /// A team's back end, identified by its API key.
    ///
    /// - Parameter app: The bundle identifier of the only app that the key may use, or nil for all apps.
    case backEnd(key: String, scopes: Set<APIKeyScope>, app: String?)
    /// A user's app, identified by the user's token.
    ///
    /// - Parameter app: The bundle identifier of the token's app, or nil if the token names none.
    case app(User, app: String?)
    /// An app, identified by its public key, which anybody can read in the app. It names its customer by an id. Only its proofs
    /// change what a customer owns.
    ///
    /// - Parameter app: The bundle identifier of the key's app.
    case publicApp(key: String, app: String)

    /// The bundle identifier of the only app that the caller may use. Nil for all apps.
    package var app: String? {
        switch self {
        case .backEnd(_, _, let app), .app(_, let app): app
        case .publicApp(_, let app): app
        }
    }

    /// The bundle identifier of the app of a key, which sees and changes only what belongs to the app. Nil for a key of all apps,
    /// and for a user, who sees everything of their own in each app.
    package var limitingApp: String? {
        switch self {
        case .backEnd(_, _, let app): app
        case .publicApp(_, let app): app
        case .app: nil
        }
    }

    /// True for a back end with an API key.
    package var isBackEnd: Bool {
        if case .backEnd = self { true } else { false }
    }

    /// True for an app with its public key.
    var isPublicApp: Bool {
        if case .publicApp = self { true } else { false }
    }

    /// The name under which the service counts requests and keeps answers. All installations of an app share a public key, so
    /// no answer may be kept under its name.
    package var name: String {
        switch self {
        case .backEnd(let key, _, _), .publicApp(let key, _): key
        case .app(let user, _): IdempotencyKey.caller(user)
        }
    }

    /// The caller's name in the audit log.
    package var actor: AuditActor {
        switch self {
        case .backEnd(let key, _, _), .publicApp(let key, _): .apiKey(key)
        case .app: .user
        }
    }
}
