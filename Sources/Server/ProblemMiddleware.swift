import Commerce
import Entitlements
import Hummingbird

/// Turns whatever a route throws into a problem document, and tells a stranger nothing of what went wrong inside.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let problem as Problem {
            return try problem.response()
        } catch let error as RedemptionError {
            if case .storage(let fault) = error {
                context.logger.error("storage fault", metadata: ["code": "\(fault.code)"])
            }
            return try Problem(error).response()
        } catch let fault as StorageFault {
            context.logger.error("storage fault", metadata: ["code": "\(fault.code)"])
            return try Problem(fault).response()
        } catch let error as any HTTPResponseError {
            return try Self.problem(error.status).response()
        } catch {
            context.logger.error("unexpected error", metadata: ["type": "\(type(of: error))"])
            return try Problem(
                status: .internalServerError, code: "internalError",
                detail: "The service failed: try again later; what is redeemed twice is granted once."
            ).response()
        }
    }

    /// What Hummingbird itself refuses.
    private static func problem(_ status: HTTPResponse.Status) -> Problem {
        switch status {
        case .notFound: Problem(status: status, code: "notFound", detail: "There is nothing at this path and method.")
        case .contentTooLarge:
            Problem(
                status: status, code: "bodyTooLarge",
                detail: "The body is larger than \(JSONBody.maximumSize) bytes: send one proof at a time.")
        default: Problem(status: status, code: "httpError", detail: "The request is not HTTP as the service reads it.")
        }
    }
}
