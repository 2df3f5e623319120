import Accounts
import Commerce
import Hummingbird

/// How the service recognises its callers.
public enum Authentication: Sendable {
    /// Back ends by the API keys in its ledger, and apps by their users' tokens: of an issuer that is known, or of the
    /// service's own accounts.
    case apiKeys(APIKeys, UserTokens? = nil, AccountService? = nil)
    /// By one key, with every scope, that only this process knows.
    case processKey(APIKey)

    /// Whose users there are besides those whom the team's back end names.
    package var issuers: [String] {
        guard case .apiKeys(_, let tokens, let accounts) = self else { return [] }
        return [tokens?.issuer, accounts.map { _ in User.accountIssuer }].compactMap(\.self)
    }

    /// - Returns: nil for a credential that is nobody's.
    package func caller(presenting credential: String) async throws -> Caller? {
        switch self {
        case .apiKeys(let keys, let tokens, let accounts):
            if let accounts, AccountService.isAccessToken(credential) {
                switch try await accounts.user(presenting: credential) {
                case .user(let user): return .app(user, app: nil)
                case .expired: throw Problem.tokenExpired
                case .invalid: throw Problem.tokenInvalid("it is unknown, or its session has ended")
                }
            }
            if let tokens, !credential.hasPrefix(APIKeys.prefix) {
                return try await tokens.caller(presenting: credential)
            }
            return try await keys.caller(presenting: credential)
        case .processKey(let own):
            return own.matches(credential) ? .backEnd(key: "process", scopes: Set(APIKeyScope.allCases), app: nil) : nil
        }
    }
}

/// Lets a request through only with a credential that is good, in its `Authorization` header (RFC 6750), and notes whose it
/// is.
package struct AuthenticationMiddleware: RouterMiddleware {
    private let authentication: Authentication

    package init(authentication: Authentication) {
        self.authentication = authentication
    }

    package func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        guard let credential = Self.credential(of: request) else {
            throw Problem(
                status: .unauthorized, code: "unauthenticated",
                detail: "Send an API key or a user's token as a bearer token in the Authorization header; "
                    + "`till keys make` makes a key.")
        }
        guard let caller = try await authentication.caller(presenting: credential) else {
            throw Problem(
                status: .unauthorized, code: "keyInvalid",
                detail: "The API key is unknown or was revoked. `till keys list` lists the keys. "
                    + (authentication.issuers.isEmpty ? "Users' tokens are not taken here (jwt-issuer)." : ""))
        }
        var context = context
        context.caller = caller
        return try await next(request, context)
    }

    /// nil where none is presented.
    package static func credential(of request: Request) -> String? {
        let scheme = "bearer "
        guard let header = request.headers[.authorization], header.prefix(scheme.count).lowercased() == scheme else {
            return nil
        }
        return String(header.dropFirst(scheme.count))
    }
}
