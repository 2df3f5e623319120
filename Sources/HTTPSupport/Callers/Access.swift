import Hummingbird
import Ledger

/// The callers that may use a route.
package enum Access: Sendable {
    /// A back end whose API key has the scope.
    case backEnd(APIKeyScope)
    /// The app of a user, with the user's token.
    case app
    /// A back end whose API key has the scope, or the app of a user.
    case backEndOrApp(APIKeyScope)
    /// An app with its public key. The group must be authenticated with `acceptsPublicKeys`.
    case publicApp
    /// A back end whose API key has the scope, or an app with its public key. The group must accept public keys, too.
    case backEndOrPublicApp(APIKeyScope)
    /// Anybody, without a credential.
    case anybody
    /// Another service, with an identity token that the route verifies.
    case identified

    /// The scope that the key of a back end needs; nil if no back end may use the route, or anybody.
    var scope: APIKeyScope? {
        switch self {
        case .backEnd(let scope), .backEndOrApp(let scope), .backEndOrPublicApp(let scope): scope
        case .app, .publicApp, .anybody, .identified: nil
        }
    }

    package func allows(_ caller: Caller?) -> Bool {
        switch (self, caller) {
        case (_, .backEnd(_, let scopes, _)) where scope.map { scopes.contains($0) } ?? false: true
        case (.app, .app), (.backEndOrApp, .app), (.publicApp, .publicApp), (.backEndOrPublicApp, .publicApp): true
        case (.anybody, _), (.identified, _): true
        default: false
        }
    }
}

/// Refuses a request if its caller may not use the route.
///
/// A back end's key for one app may use no route, except those whose answers and changes are limited to what belongs to the app.
/// Writes that bring no proof are refused first: if only the reserve of free space is left, and if many requests wait for a commit.
struct AccessMiddleware: RouterMiddleware {
    let access: Access
    /// True if each route of the group is limited to the app of the caller's key.
    let isPerApp: Bool
    /// True if the routes bring a proof, so apps and strangers may use the reserve of free space and all places for commits.
    let usesReserve: Bool

    func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        if access.allows(context.caller) {
            if !isPerApp, case .backEnd(_, _, let app?) = context.caller { throw Problem.appForbidden(app) }
            guard !usesReserve, let priority = context.commitPriority(of: request) else {
                return try await next(request, context)
            }
            try context.checkReserve()
            // The queue refuses the write, too. This spares the work before it, such as hashing a password.
            guard context.sharedLimits?.ledger?.hasPlace(for: priority) ?? true else { throw Problem.tooBusy }
            return try await CommitPriority.$current.withValue(priority) { try await next(request, context) }
        }
        if let scope = access.scope, case .backEnd = context.caller {
            throw Problem(
                status: .forbidden, code: "scopeMissing",
                detail: "The API key lacks the scope \"\(scope.rawValue)\". Use a key that has it.")
        }
        switch (access, context.caller) {
        case (.app, .backEnd):
            throw Problem(
                status: .forbidden, code: "tokenRequired",
                detail: "/v1/me needs a user's token. Send one, or use /v1/users/{user} with the API key.")
        case (.backEnd, .app):
            throw Problem(
                status: .forbidden, code: "keyRequired",
                detail: "This path needs a back end's API key. A user's token is valid for /v1/me and /v1/products.")
        case (.publicApp, .backEnd), (.publicApp, .app), (.backEndOrPublicApp, .app):
            throw Problem(
                status: .forbidden, code: "publicKeyRequired",
                detail:
                    "This path needs the public key of an app. `till keys make --public --bundle-id BUNDLE-ID` makes one."
            )
        case (_, .publicApp):
            throw Problem.publicKeyNotAllowed
        case (_, .app), (_, .backEnd), (_, nil):
            throw Problem.unexpected
        }
    }
}

extension RouterGroup where Context == ServiceContext {
    /// Returns a group of routes with the same path for the callers that `access` names.
    ///
    /// - Parameters:
    ///   - isPerApp: True if keys for one app may use the routes, because each route is limited to the app (`AppLimit`).
    ///   - usesReserve: True if the routes also write if only the reserve of free space is left, or most places for commits are
    ///     taken: they redeem proofs, erase, or write nothing.
    package func `for`(
        _ access: Access, isPerApp: Bool = false, usesReserve: Bool = false
    ) -> RouterGroup<ServiceContext> {
        group().add(middleware: AccessMiddleware(access: access, isPerApp: isPerApp, usesReserve: usesReserve))
    }
}

extension ServiceContext {
    /// The priority of a write that brings no proof. Nil for reads and for back ends, which are never refused first.
    fileprivate func commitPriority(of request: Request) -> CommitPriority? {
        switch caller {
        case _ where request.method.isSafe: nil
        case .backEnd: nil
        case .app: .medium
        case .publicApp, nil: .low
        }
    }
}

extension Problem {
    /// The refusal of a request that is not about the caller's app alone.
    package static func appForbidden(_ app: String) -> Problem {
        Problem(
            status: .forbidden, code: "appForbidden",
            detail: "The API key or token is for the app \"\(app)\" only. Use one for all apps.")
    }
}
