import Hummingbird
import Proofs

/// The authentication of the service's callers.
package enum Authentication: Sendable {
    /// Back ends use the ledger's API keys. Apps use their users' tokens, from an accepted issuer or from the service's
    /// own accounts.
    case apiKeys(APIKeys, UserTokens? = nil, (any AccessTokens)? = nil)
    /// Back ends use one key with every scope that only this process knows.
    case processKey(APIKey)

    /// The accepted token issuers.
    package var issuers: [String] {
        guard case .apiKeys(_, let tokens, let accounts) = self else { return [] }
        return [tokens?.issuer, accounts.map { _ in User.accountIssuer }].compactMap(\.self)
    }

    /// - Returns: Nil if no caller has the credential.
    package func caller(presenting credential: String) async throws -> Caller? {
        switch self {
        case .apiKeys(let keys, let tokens, let accounts):
            if let caller = try await accounts?.caller(presenting: credential) { return caller }
            if let tokens, !APIKeys.isKey(credential) {
                return try await tokens.caller(presenting: credential)
            }
            return try await keys.caller(presenting: credential)
        case .processKey(let own):
            return own.matches(credential) ? .backEnd(key: "process", scopes: Set(APIKeyScope.allCases), app: nil) : nil
        }
    }
}

/// The access tokens of the service's own accounts, which are a feature above this module.
package protocol AccessTokens: Sendable {
    /// - Returns: Nil for a credential of another kind.
    /// - Throws: `Problem` for an access token that is not, or no longer, valid.
    func caller(presenting credential: String) async throws -> Caller?
}

/// Authenticates a request by the bearer token in its `Authorization` header (RFC 6750), and stores the caller in the
/// context. It refuses the public keys of apps, except on the routes that are made for them.
package struct AuthenticationMiddleware: RouterMiddleware {
    private let authentication: Authentication
    private let acceptsPublicKeys: Bool

    /// - Parameter acceptsPublicKeys: True if every route behind the middleware names its callers, for routes for public keys.
    package init(authentication: Authentication, acceptsPublicKeys: Bool = false) {
        self.authentication = authentication
        self.acceptsPublicKeys = acceptsPublicKeys
    }

    package func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        guard let credential = Self.credential(of: request) else {
            throw Problem(
                status: .unauthorized, code: "unauthenticated",
                detail: "Send an API key or a user's token as a bearer token in the Authorization header. "
                    + "`till keys make` creates an API key.")
        }
        guard let caller = try await authentication.caller(presenting: credential) else {
            throw Problem(
                status: .unauthorized, code: "keyInvalid",
                detail: "The API key is unknown or was revoked. `till keys list` shows the valid keys. "
                    + (authentication.issuers.isEmpty ? "To accept users' tokens, set jwt-issuer." : ""))
        }
        guard acceptsPublicKeys || !caller.isPublicApp else { throw Problem.publicKeyNotAllowed }
        var context = context
        context.caller = caller
        return try await next(request, context)
    }

    /// The bearer token of a request. Nil if there is none.
    package static func credential(of request: Request) -> String? {
        let scheme = "bearer "
        guard let header = request.headers[.authorization], header.prefix(scheme.count).lowercased() == scheme else {
            return nil
        }
        return String(header.dropFirst(scheme.count))
    }
}

extension Problem {
    static let publicKeyNotAllowed = Problem(
        status: .forbidden, code: "keyRequired",
        detail: "The public key of an app is not valid for this path. Use a back end's API key or a user's token.")
}
