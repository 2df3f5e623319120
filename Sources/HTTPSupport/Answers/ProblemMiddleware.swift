import Hummingbird
import Logging
import Proofs

/// Converts every error of a route into a problem document. It hides internal errors from the client.
package struct ProblemMiddleware: RouterMiddleware {
    package init() {}

    package func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            return try Self.problem(of: error, context).response()
        }
    }

    /// Notes and logs an error, and returns its problem document.
    package static func problem(of error: any Error, _ context: ServiceContext) -> Problem {
        let known = Problem(error)
        func log(_ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata) {
            context.logger.log(
                level: context.sharedLimits?.lines.level(level) ?? level, message, metadata: metadata)
        }
        if known == nil { log(.error, "unexpected error", ["type": "\(type(of: error))"]) }
        let problem = known ?? .unexpected
        context.notes.code = problem.code
        // The status 503 is not a defect of the service, and any client can provoke it.
        if problem.status >= 500 {
            log(problem.status == 503 ? .info : .error, "the service cannot answer", ["code": "\(problem.code)"])
        }
        return problem
    }
}

extension Problem {
    /// Creates the problem of an expected error. Nil if the error is unexpected.
    package init?(_ error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as any RuledError: self.init(error.rule)
        case let error as any HTTPResponseError: self = Self.refused(with: error.status)
        default: return nil
        }
    }

    /// The code of an error; that of an internal error if the error is unexpected.
    package static func code(of error: any Error) -> String { (Problem(error) ?? .unexpected).code }

    package static let unexpected = Problem(
        status: .internalServerError, code: "internalError",
        detail: "The service failed. Try again later; a purchase that is sent twice is granted once.",
        couldSucceedLater: true)

    package static let pathUnknown = Problem(
        status: .notFound, code: "notFound", detail: "This path is unknown. /openapi.json lists all paths.")

    /// Converts a refusal by Hummingbird itself.
    private static func refused(with status: HTTPResponse.Status) -> Problem {
        switch status {
        case .notFound: pathUnknown
        case .contentTooLarge:
            Problem(
                status: status, code: "bodyTooLarge",
                detail:
                    "The body is too large. A proof may have 8 MiB and a picture 256 KB; other bodies must be smaller."
            )
        default:
            Problem(
                status: status, code: "httpError",
                detail: "The request is not valid HTTP. Check the request line and header.")
        }
    }
}
