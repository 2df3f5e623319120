import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// An error of Till in the protocol's form.
package struct RevenueCatProblem: Error, Hashable, Sendable {
    /// The status of an error for which the SDK must send the request again.
    static let statusForRetry = 503
    /// The status of a permanently refused proof, and of an ignored error.
    private static let badRequest = 400

    package let status: Int
    package let number: RevenueCatErrorNumber
    package let message: String
    /// The seconds before a retry, as text; nil if unknown.
    package let retryAfter: String?
    let attributeErrors: [AttributeFailure]

    init(status: Int = Self.statusForRetry, number: RevenueCatErrorNumber, message: String) {
        self.status = status
        self.number = number
        self.message = message
        retryAfter = nil
        attributeErrors = []
    }

    /// The answer to attributes of which some cannot be recorded. The others are.
    init(refusing errors: [AttributeFailure]) {
        status = Self.badRequest
        number = .attributesInvalid
        message = "Some attributes are invalid."
        retryAfter = nil
        attributeErrors = errors
    }

    /// Converts a problem for an endpoint.
    package init(_ problem: Problem, at endpoint: RevenueCatEndpoint) {
        let rule = RevenueCatErrorRule(code: problem.code)
        number = rule.number
        message = problem.detail
        retryAfter = problem.headers[.retryAfter]
        attributeErrors = []
        switch endpoint.consequence {
        case .ends where !rule.safety.isPermanent: status = max(problem.status, Self.statusForRetry)
        case .ignores: status = min(problem.status, Self.badRequest)
        case .ends, .reports: status = Self.status(of: problem, rule)
        }
    }

    /// The real service refuses a proof with the status 400.
    private static func status(of problem: Problem, _ rule: RevenueCatErrorRule) -> Int {
        problem.status < 500 && rule.number == .invalidReceipt && rule.safety.isPermanent ? badRequest : problem.status
    }

    package var json: JSONValue {
        var object: JSONObject = ["code": .integer(number.rawValue), "message": .string(message)]
        if !attributeErrors.isEmpty { _ = object.add("attribute_errors", attributeErrors.json) }
        return .object(object)
    }

    package func response() -> Response {
        var headers: HTTPFields = [:]
        if let retryAfter { headers[.retryAfter] = retryAfter }
        return JSONAnswer.response(
            bytes: JSONAnswer.encode(json), status: HTTPResponse.Status(code: status), headers: headers)
    }
}

/// Converts each error at the protocol's endpoints.
///
/// It is added twice. Around the endpoints, it converts the errors that they throw. Around the whole router, it replaces
/// problem documents from outside the endpoints, such as those of limits, because a status below 500 would make the SDK
/// finish a transaction.
package struct RevenueCatErrorMiddleware: RouterMiddleware {
    package init() {}

    package func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
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
