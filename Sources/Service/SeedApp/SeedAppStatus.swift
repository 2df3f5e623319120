import Commerce
import HTTPSupport
import HTTPTypes
import Hummingbird

/// What the seed's own app is answered with, by the status alone; each route gives 201 and 202 meanings of its own.
enum SeedAppStatus: Int, Error {
    case done = 200
    /// Already a member, an item that is not owned, a receipt that is refused.
    case refused = 201
    case nicknameRefused = 202
    case tokenRefused = 401
    case noMember = 406
    case serverError = 500
    /// A header or a field is missing.
    case clientError = 501

    var response: Response { Response(status: .init(code: rawValue)) }
}

/// Recognises the user by the header `idtoken`, and answers whatever goes wrong in the app's own numbers.
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
            // An account with the service itself is left with its password, which this app knows nothing of.
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
