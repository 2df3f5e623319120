import Catalog
import Commerce
import Hummingbird
import Ledger
import Logging

/// Turns whatever a route throws into a problem document, and tells a stranger nothing of what went wrong inside.
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

    /// What an error is answered with, once it is noted and logged.
    package static func problem(of error: any Error, _ context: ServiceContext) -> Problem {
        let known = Problem(error)
        if known == nil { context.logger.error("unexpected error", metadata: ["type": "\(type(of: error))"]) }
        let problem = known ?? .unexpected
        context.notes.code = problem.code
        // That it cannot answer now (503) is no failure of its own, and anybody may bring it about.
        if problem.status >= 500 {
            let level: Logger.Level = problem.status == 503 ? .info : .error
            context.logger.log(level: level, "the service cannot answer", metadata: ["code": "\(problem.code)"])
        }
        return problem
    }
}

extension Problem {
    /// What a route has thrown; nil for what nobody expected.
    package init?(_ error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as any ProblemConvertible: self = error.problem
        case let error as LedgerError: self.init(error)
        case let error as CatalogError:
            self.init(status: .internalServerError, code: error.code, detail: error.message)
        case let fault as StorageFault: self.init(fault)
        case let error as any HTTPResponseError: self = Self.refused(with: error.status)
        default: return nil
        }
    }

    package static let unexpected = Problem(
        status: .internalServerError, code: "internalError",
        detail: "The service failed: try again later; what is redeemed twice is granted once.",
        couldSucceedLater: true)

    package static let pathUnknown = Problem(
        status: .notFound, code: "notFound", detail: "This path is unknown; /openapi.json lists all paths.")

    /// What Hummingbird itself refuses.
    private static func refused(with status: HTTPResponse.Status) -> Problem {
        switch status {
        case .notFound: pathUnknown
        case .contentTooLarge:
            Problem(
                status: status, code: "bodyTooLarge",
                detail:
                    "The body is larger than any this path takes: a proof has up to 1 MiB, a picture 256 KB, all else less."
            )
        default: Problem(status: status, code: "httpError", detail: "The request is not HTTP as the service reads it.")
        }
    }
}
