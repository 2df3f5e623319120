import HTTPSupport
import HTTPTypes
import Hummingbird

/// Converts each error at the protocol's path.
///
/// It is added twice: around the route, and around the whole router for the problem documents of limits and of other
/// middleware.
struct IAPKitErrorMiddleware: RouterMiddleware {
    func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        guard request.method == .post, IAPKitRoutes.isPath(request.uri.path) else {
            return try await next(request, context)
        }
        do {
            let response = try await next(request, context)
            guard response.status.code >= 400, response.headers[.contentType] == Problem.contentType else {
                return response
            }
            return IAPKitProblem(
                Problem(
                    status: response.status, code: context.notes.code ?? "httpError",
                    detail: "The service cannot process the request. Send it again later.",
                    retryAfter: response.headers[.retryAfter].flatMap { Int($0) })
            ).response()
        } catch let error as IAPKitProblem {
            context.notes.code = error.problem.code
            return error.response()
        } catch {
            return IAPKitProblem(ProblemMiddleware.problem(of: error, context)).response()
        }
    }
}
