import Commerce
import Hummingbird

/// How the service recognises its callers.
public enum Authentication: Sendable {
    /// Back ends by the API keys in its ledger, and apps by their users' tokens, where an issuer is known.
    case apiKeys(APIKeys, UserTokens? = nil)
    /// By one key, with every scope, that only this process knows.
    case processKey(APIKey)

    /// The issuer whose tokens are accepted; nil when none are.
    var issuer: String? {
        if case .apiKeys(_, let tokens) = self { tokens?.issuer } else { nil }
    }

    /// - Returns: nil for a credential that is nobody's.
    func caller(presenting credential: String, work: BlockingWork) async throws -> Caller? {
        switch self {
        case .apiKeys(let keys, let tokens):
            if let tokens, !credential.hasPrefix(APIKeys.prefix) {
                return .app(try await tokens.user(presenting: credential))
            }
            return try await work.read { try keys.scopes(of: credential) }
                .map { .backEnd(key: $0.identifier, scopes: $0.scopes) }
        case .processKey(let own):
            return own.matches(credential) ? .backEnd(key: "process", scopes: Set(APIKeyScope.allCases)) : nil
        }
    }
}

/// Lets a request through only with a credential that is good, in its `Authorization` header (RFC 6750), and notes whose it
/// is.
struct AuthenticationMiddleware: RouterMiddleware {
    let authentication: Authentication
    let work: BlockingWork

    func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        let scheme = "bearer "
        guard let header = request.headers[.authorization], header.prefix(scheme.count).lowercased() == scheme else {
            throw Problem(
                status: .unauthorized, code: "unauthenticated",
                detail: "Send an API key or a user's token as a bearer token in the Authorization header; "
                    + "`till keys make` makes a key.")
        }
        let credential = String(header.dropFirst(scheme.count))
        guard let caller = try await authentication.caller(presenting: credential, work: work) else {
            throw Problem(
                status: .unauthorized, code: "keyInvalid",
                detail: "The API key is unknown or was revoked; `till keys list` tells which are good. "
                    + (authentication.issuer == nil ? "Users' tokens are not taken here (jwt-issuer)." : ""))
        }
        var context = context
        context.caller = caller
        return try await next(request, context)
    }
}
