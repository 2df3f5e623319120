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
    package let type: String
    package let title: String
    package let status: Int
    package let code: String
    package let detail: String
    /// True if the same request may succeed later without a change.
    package let couldSucceedLater: Bool
    /// The header fields of the response.
    package private(set) var headers: HTTPFields = [.contentType: Self.contentType]

    package init(
        status: HTTPResponse.Status,
        code: String,
        detail: String,
        couldSucceedLater: Bool = false,
        retryAfter: Int? = nil
    ) {
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        if status == .unauthorized {
            headers[.wwwAuthenticate] = code == "unauthenticated" ? "Bearer" : "Bearer error=\"invalid_token\""
        }
        type = "/errors#\(code)"
        self.couldSucceedLater = couldSucceedLater
        title = status.reasonPhrase
        self.status = status.code
        self.code = code
        self.detail = detail
    }

    package static let userNotFound = Problem(
        status: .notFound, code: "userNotFound", detail: "The user is unknown to the service or was erased.")

    package static func tooManyAttempts(secondsToWait seconds: Int) -> Problem {
        Problem(
            status: .tooManyRequests, code: "tooManyAttempts",
            detail: "Too many attempts. Try again in \(seconds) seconds.", couldSucceedLater: true, retryAfter: seconds)
    }

    package static func methodNotAllowed(allowed: [String]) -> Problem {
        let methods = allowed.joined(separator: ", ")
        var problem = Problem(
            status: .methodNotAllowed, code: "methodNotAllowed", detail: "This path allows only the methods \(methods)."
        )
        problem.headers[.allow] = methods
        return problem
    }

    package init(_ error: LedgerError) {
        switch error {
        case .userUnknown: self = .userNotFound
        case .userBlocked: self.init(status: .badRequest, code: error.code, detail: error.message)
        case .newcomersLimited(let seconds):
            self.init(
                status: .tooManyRequests, code: error.code, detail: error.message, couldSucceedLater: true,
                retryAfter: seconds)
        }
    }

    /// Converts a storage fault. The caller does not learn the ledger's location on the server's disk.
    package init(_ fault: StorageFault) {
        if fault.cause == .overloaded {
            self = .tooBusy
            return
        }
        self.init(
            status: Self.status(of: fault), code: fault.code,
            detail:
                "The service cannot use its ledger now. Try again later; a purchase that is sent twice is granted once.",
            couldSucceedLater: fault.cause != .damaged && fault.cause != .otherVersion)
    }

    private static func status(of fault: StorageFault) -> HTTPResponse.Status {
        [.busy, .stopped, .unreachable].contains(fault.cause) ? .serviceUnavailable : .internalServerError
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
