import HTTPSupport
import HTTPTypes
import Hummingbird

/// Converts each error of a validation into the plugin's form, and lets web views read every answer.
///
/// It is added twice. Around the route, it converts the errors that it throws. Around the whole router, it replaces problem
/// documents from outside the route, such as those of limits.
package struct CordovaMiddleware: RouterMiddleware {
    /// The path of validations.
    package static let path = "/v1/validators/cordova"

    init() {}

    package func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        guard Self.isValidation(request) else { return try await next(request, context) }
        var response: Response
        do {
            response = try await next(request, context)
            if response.status.code >= 400, response.headers[.contentType] == Problem.contentType {
                let problem = Problem(
                    status: response.status, code: "httpError",
                    detail: "The service cannot process the request. Send it again later.",
                    retryAfter: response.headers[.retryAfter].flatMap { Int($0) })
                response = CordovaRefusal(problem).response()
            }
        } catch {
            response = CordovaRefusal(ProblemMiddleware.problem(of: error, context)).response()
        }
        CrossOrigin.allow(&response, for: request)
        return response
    }

    private static func isValidation(_ request: Request) -> Bool {
        guard request.method == .post || request.method == .options else { return false }
        let (segments, expected) = (request.uri.path.split(separator: "/"), path.split(separator: "/"))
        return segments.count == expected.count
            && zip(segments, expected).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }
}
