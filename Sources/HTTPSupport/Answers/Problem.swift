import HTTPTypes
import Hummingbird
import Ledger
import Proofs

/// A problem document (RFC 9457) with Till's stable code.
package struct ProblemResource: Codable, Sendable {
    /// The address of the code's explanation, relative to the request's address.
    package let type: String
    package let title: String
    /// The HTTP status.
    package let status: Int
    package let code: String
    package let detail: String
    /// True if the same request may succeed later without a change.
    package let couldSucceedLater: Bool
}

/// An error response: a problem document (RFC 9457) with Till's stable code.
package struct Problem: Error {
    package static let contentType = "application/problem+json"

    /// The address of the code's explanation, relative to the service. The page is `Resources/Errors.md`.
    package var type: String { "/errors#\(code)" }
    package let title: String
    package let status: Int
    package let code: String
    package let detail: String
    /// True if the same request may succeed later without a change.
    package let couldSucceedLater: Bool
    /// The detail in Korean, for the console; nil if only its code tells it.
    package let korean: String?
    /// The header fields of the response.
    package private(set) var headers: HTTPFields = [.contentType: Self.contentType]

    package init(
        status: HTTPResponse.Status,
        code: String,
        detail: String,
        couldSucceedLater: Bool = false,
        retryAfter: Int? = nil,
        korean: String? = nil
    ) {
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        if status == .unauthorized {
            headers[.wwwAuthenticate] = code == "unauthenticated" ? "Bearer" : "Bearer error=\"invalid_token\""
        }
        self.couldSucceedLater = couldSucceedLater
        title = status.reasonPhrase
        self.status = status.code
        self.code = code
        self.detail = detail
        self.korean = korean
    }

    package init(_ rule: ErrorRule) {
        self.init(
            status: rule.kind.status, code: rule.code, detail: rule.detail, couldSucceedLater: rule.mayRetry,
            retryAfter: rule.secondsToWait, korean: rule.korean)
    }

    package static let userNotFound = Problem(LedgerError.userUnknown.rule)

    package static func tooManyAttempts(secondsToWait seconds: Int) -> Problem {
        Problem(
            status: .tooManyRequests, code: "tooManyAttempts",
            detail: "Too many attempts. Try again in \(seconds) seconds.", couldSucceedLater: true, retryAfter: seconds,
            korean: "시도가 너무 많습니다. \(seconds)초 뒤에 다시 시도하세요.")
    }

    package static func methodNotAllowed(allowed: [String]) -> Problem {
        let methods = allowed.joined(separator: ", ")
        var problem = Problem(
            status: .methodNotAllowed, code: "methodNotAllowed", detail: "This path allows only the methods \(methods)."
        )
        problem.headers[.allow] = methods
        return problem
    }

    /// True if the service's configuration causes the refusal. The same request succeeds after the operator has changed
    /// it.
    var isOperatorError: Bool {
        Self.operatorErrorCodes.contains(code)
    }

    package static let operatorErrorCodes: Set<String> = [
        "chainUntrusted", "originNotAccepted", "bundleIdentifierMismatch", "productUnknown", "itemUnknown",
        "balanceUnknown",
    ]

    /// The problem document.
    package var resource: ProblemResource {
        ProblemResource(
            type: type, title: title, status: status, code: code, detail: detail, couldSucceedLater: couldSucceedLater)
    }

    package func response() throws -> Response {
        Response(
            status: .init(code: status, reasonPhrase: title), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try JSONAnswer.encode(resource))))
    }
}

extension ErrorRule.Kind {
    fileprivate var status: HTTPResponse.Status {
        switch self {
        case .badRequest: .badRequest
        case .unauthorized: .unauthorized
        case .forbidden: .forbidden
        case .notFound: .notFound
        case .conflict: .conflict
        case .tooLarge: .contentTooLarge
        case .unprocessable: .unprocessableContent
        case .tooManyRequests: .tooManyRequests
        case .failed: .internalServerError
        case .badGateway: .badGateway
        case .unavailable: .serviceUnavailable
        }
    }
}
