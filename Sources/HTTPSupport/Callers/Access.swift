import Hummingbird

/// Who may use a route.
package enum Access: Sendable {
    /// A back end whose key has a scope.
    case backEnd(APIKeyScope)
    /// The app of a user.
    case app
    /// Either.
    case backEndOrApp(APIKeyScope)

    package func isFor(_ caller: Caller?) -> Bool {
        switch (self, caller) {
        case (.backEnd(let scope), .backEnd(_, let scopes, _)): scopes.contains(scope)
        case (.backEndOrApp(let scope), .backEnd(_, let scopes, _)): scopes.contains(scope)
        case (.app, .app), (.backEndOrApp, .app): true
        default: false
        }
    }
}

/// Lets a request through only when its caller may use the route.
package struct AccessMiddleware: RouterMiddleware {
    package let access: Access

    package func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        if access.isFor(context.caller) { return try await next(request, context) }
        switch (access, context.caller) {
        case (.backEnd(let scope), .backEnd), (.backEndOrApp(let scope), .backEnd):
            throw Problem(
                status: .forbidden, code: "scopeMissing",
                detail: "The API key lacks the scope \"\(scope.rawValue)\": use one that has it.")
        case (.app, .backEnd):
            throw Problem(
                status: .forbidden, code: "tokenRequired",
                detail: "/v1/me is the caller's own: send a user's token, or name the user as /v1/users/{user}.")
        case (.backEnd, .app):
            throw Problem(
                status: .forbidden, code: "keyRequired",
                detail: "This is for back ends, with an API key; a user's token is good for /v1/me and /v1/products.")
        case (_, .app), (_, nil):
            throw Problem.unexpected
        }
    }
}

extension RouterGroup where Context == ServiceContext {
    /// Routes of the same path for whom `access` names.
    package func `for`(_ access: Access) -> RouterGroup<ServiceContext> {
        group().add(middleware: AccessMiddleware(access: access))
    }
}
