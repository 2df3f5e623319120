import Commerce
import Hummingbird

/// How the service recognises its callers.
public enum Authentication: Sendable {
    /// By the API keys in its ledger.
    case apiKeys(APIKeys)
    /// By one key, with every scope, that only this process knows.
    case processKey(APIKey)

    func caller(presenting key: String) throws(StorageFault) -> Caller? {
        switch self {
        case .apiKeys(let keys):
            try keys.scopes(of: key).map { Caller(name: $0.identifier, scopes: $0.scopes) }
        case .processKey(let own):
            own.matches(key) ? Caller(name: "process", scopes: Set(APIKeyScope.allCases)) : nil
        }
    }
}

/// Who sent a request, as far as the service has to know.
struct Caller: Sendable {
    /// The API key's identifier, for the log.
    let name: String
    let scopes: Set<APIKeyScope>
}

/// Lets a request through only with a key that is good, in its `Authorization` header (RFC 6750), and notes whose it is.
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
                detail: "Send an API key as a bearer token in the Authorization header; `till keys make` makes one.")
        }
        let key = String(header.dropFirst(scheme.count))
        guard let caller = try await work.run({ [authentication] in try authentication.caller(presenting: key) })
        else {
            throw Problem(
                status: .unauthorized, code: "keyInvalid",
                detail: "The API key is unknown or was revoked; `till keys list` tells which are good.")
        }
        var context = context
        context.caller = caller
        context.logger[metadataKey: "key"] = "\(caller.name)"
        return try await next(request, context)
    }
}

/// Lets a request through only when its key has a scope.
struct ScopeMiddleware: RouterMiddleware {
    let scope: APIKeyScope

    func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        guard let caller = context.caller, caller.scopes.contains(scope) else {
            throw Problem(
                status: .forbidden, code: "scopeMissing",
                detail: "The API key lacks the scope \"\(scope.rawValue)\": use one that has it.")
        }
        return try await next(request, context)
    }
}
