import Features
import HTTPSupport
import Hummingbird

/// Refuses a request without a session, or by a member without the permission.
struct PermissionMiddleware: RouterMiddleware {
    let permission: TeamPermission

    func handle(
        _ request: Request,
        context: ConsoleContext,
        next: (Request, ConsoleContext) async throws -> Response
    ) async throws -> Response {
        guard let member = context.member else {
            // A person who reads is asked to log in, and then sees the page.
            guard request.method != .post else {
                throw Problem(
                    status: .unauthorized, code: "sessionEnded", detail: "The session has ended. Log in, and try again."
                )
            }
            let next = ConsolePath(request: request.uri.string)?.text
            return .seeOther(ConsolePath("log-in", query: ["next": next == ConsolePath.root ? nil : next]))
        }
        guard member.role.permissions.contains(permission) else {
            throw Problem(
                status: .forbidden, code: "permissionMissing",
                detail: "The role \"\(member.role.rawValue)\" may not do this. Ask an administrator of the console.")
        }
        return try await next(request, context)
    }
}
