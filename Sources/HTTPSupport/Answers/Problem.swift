import Commerce
import HTTPTypes
import Hummingbird
import Ledger
import Wire

/// An error as the service answers it: a problem document (RFC 9457) with Till's stable code.
package struct Problem: Error {
    package static let contentType = "application/problem+json"

    /// Where the code is explained: the service's own page (`Resources/Errors.md`), which the address leads to relative to
    /// whatever was asked.
    package let type: String
    package let title: String
    package let status: Int
    package let code: String
    package let detail: String
    /// Whether the same request may succeed without anybody changing it.
    package let couldSucceedLater: Bool
    /// What the answer has besides the document.
    private(set) var headers: HTTPFields = [.contentType: Self.contentType]

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
        status: .notFound, code: "userNotFound", detail: "The service has never seen this user, or has erased them.")

    package static func methodNotAllowed(allowed: [String]) -> Problem {
        let methods = allowed.joined(separator: ", ")
        var problem = Problem(
            status: .methodNotAllowed, code: "methodNotAllowed", detail: "This path knows the methods \(methods).")
        problem.headers[.allow] = methods
        return problem
    }

    package init(_ error: LedgerError) {
        switch error {
        case .userUnknown: self = .userNotFound
        }
    }

    /// Where the ledger lies on the server's disk is not the caller's to know.
    package init(_ fault: StorageFault) {
        if fault.cause == .overloaded {
            self = .tooBusy
            return
        }
        self.init(
            status: Self.status(of: fault), code: fault.code,
            detail: "The service cannot keep its records now: try again later; what is redeemed twice is granted once.",
            couldSucceedLater: fault.cause != .damaged && fault.cause != .newerVersion)
    }

    private static func status(of fault: StorageFault) -> HTTPResponse.Status {
        [.busy, .stopped, .unreachable].contains(fault.cause) ? .serviceUnavailable : .internalServerError
    }

    /// Whether the service is set up in a way that refuses it: once that is mended, the same request succeeds.
    package var isForTheOperatorToMend: Bool {
        Self.codesForTheOperatorToMend.contains(code)
    }

    package static let codesForTheOperatorToMend: Set<String> = [
        "chainUntrusted", "originNotAccepted", "bundleIdentifierMismatch", "productUnknown", "itemUnknown",
        "balanceUnknown",
    ]

    /// The document.
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
