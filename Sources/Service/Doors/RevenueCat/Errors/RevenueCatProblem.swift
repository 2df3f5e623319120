import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// An error of Till in the protocol's form.
package struct RevenueCatProblem: DoorProblem, Hashable {
    /// The status of an error for which the SDK must send the request again.
    static let statusForRetry = 503
    /// The status of a permanently refused proof, and of an ignored error.
    private static let badRequest = 400

    package private(set) var status = Self.statusForRetry
    package let number: RevenueCatErrorNumber
    package let message: String
    /// The seconds before a retry, as text; nil if unknown.
    package private(set) var retryAfter: String?
    private(set) var attributeErrors: [AttributeFailure] = []

    init(status: Int = Self.statusForRetry, number: RevenueCatErrorNumber, message: String) {
        (self.status, self.number, self.message) = (status, number, message)
    }

    /// The answer to attributes of which some cannot be recorded. The others are.
    init(refusing errors: [AttributeFailure]) {
        self.init(status: Self.badRequest, number: .attributesInvalid, message: "Some attributes are invalid.")
        attributeErrors = errors
    }

    package init(_ problem: Problem, at endpoint: RevenueCatEndpoint) {
        let rule = RevenueCatErrorRule(code: problem.code)
        number = rule.number
        message = problem.detail
        retryAfter = problem.headers[.retryAfter]
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
        .object([
            "code": .integer(number.rawValue), "message": .string(message),
            "attribute_errors": attributeErrors.isEmpty ? nil : attributeErrors.json,
        ])
    }

    /// The problem is noted where it is converted.
    var code: String? { nil }

    package func response() -> Response {
        DoorErrors.response(json, status: HTTPResponse.Status(code: status), retryAfter: retryAfter)
    }
}

/// Converts each error at the protocol's endpoints. A status below 500 would make the SDK finish a transaction.
package struct RevenueCatErrorMiddleware: RouterMiddleware {
    package init() {}

    package func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        guard let endpoint = RevenueCatEndpoint(method: request.method, path: request.uri.path) else {
            return try await next(request, context)
        }
        return await DoorErrors.converted(request, context, next) { RevenueCatProblem($0, at: endpoint).response() }
    }
}
