import HTTPSupport
import HTTPTypes
import Hummingbird

/// Converts each error at the protocol's endpoints.
///
/// It is added twice. Around the endpoints, it converts the errors that they throw. Around the whole router, it replaces
/// problem documents from outside the endpoints, such as those of limits, because a status below 500 would make the SDK
/// finish a transaction.
package struct RevenueCatErrorMiddleware: RouterMiddleware {
    package init() {}

    package func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        guard let endpoint = RevenueCatEndpoint(method: request.method, path: request.uri.path) else {
            return try await next(request, context)
        }
        do {
            let response = try await next(request, context)
            guard response.status.code >= 400, response.headers[.contentType] == Problem.contentType else {
                return response
            }
            return RevenueCatProblem(
                Problem(
                    status: response.status, code: "httpError",
                    detail: "The service cannot process the request. Send it again later.",
                    retryAfter: response.headers[.retryAfter].flatMap { Int($0) }), at: endpoint
            ).response()
        } catch let problem as RevenueCatProblem {
            return problem.response()
        } catch {
            return RevenueCatProblem(ProblemMiddleware.problem(of: error, context), at: endpoint).response()
        }
    }
}
