import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// The statuses that answer the seed's own app. The meaning of 201 and 202 depends on the route.
enum SeedAppStatus: Int, Error {
    case done = 200
    /// The user is already a member, an item is not owned, or a receipt is refused.
    case refused = 201
    case nicknameRefused = 202
    case tokenRefused = 401
    case noMember = 406
    case serverError = 500
    /// A header or a field is missing or invalid.
    case clientError = 501

    var response: Response { Response(status: .init(code: rawValue)) }
}

/// Authenticates the user by the header `idtoken`, and maps errors to the app's own statuses.
struct SeedAppMiddleware: RouterMiddleware {
    let authentication: Authentication

    func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        do {
            guard let name = HTTPField.Name.idToken, let token = request.headers[name], !token.isEmpty else {
                throw SeedAppStatus.clientError
            }
            var context = context
            context.caller = try await authentication.caller(presenting: token)
            // Erasing an account of the service needs its password, which this app does not know.
            guard case .app(let user, _) = context.caller, user.issuer != User.accountIssuer else {
                throw SeedAppStatus.tokenRefused
            }
            return try await next(request, context)
        } catch let status as SeedAppStatus {
            return status.response
        } catch {
            let problem = ProblemMiddleware.problem(of: error, context)
            switch problem.status {
            case 401: return SeedAppStatus.tokenRefused.response
            case 429: return try problem.response()
            default: return SeedAppStatus.serverError.response
            }
        }
    }
}
