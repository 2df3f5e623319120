import Foundation
import HTTPTypes
import Hummingbird
import Ledger
import Logging
import Proofs
import Vocabulary

/// A problem document (RFC 9457) with Till's stable code, as clients read it.
package struct ProblemResource: Decodable, Sendable {
    /// The address of the code's explanation, relative to the request's address.
    package let type: String
    package let title: String
    package let status: Int
    package let code: String
    package let detail: String
    /// True if the same request may succeed later although nobody changes anything.
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
    /// True if the same request may succeed later although nobody changes anything.
    package let couldSucceedLater: Bool
    /// The detail in Korean, for the console; nil if only its code tells it.
    package let korean: String?
    /// True if the same request gets the same refusal until it is changed. Only such a refusal is kept for an idempotency key.
    package private(set) var isFinal: Bool
    /// True if only the English detail has the reason.
    package private(set) var hasReason = false
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
        // A failure of the service is no answer to the request.
        isFinal = !couldSucceedLater && status.code < 500
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
        hasReason = rule.hasReason
        isFinal = isFinal && !rule.isOfOperator && !rule.isOfState
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

    package func response() throws -> Response {
        Response(
            status: .init(code: status, reasonPhrase: title), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try json())))
    }
}

extension Problem: AnswerObject {
    package static let answerFields = AnswerFields<Self>("An error (RFC 9457).", named: "Problem") {
        $0.field("type", "The address of the explanation, relative to this service.", \.type)
        $0.field("title", "The HTTP status in words.", \.title)
        $0.field("status", "The HTTP status.", \.status)
        $0.field("code", "The error code. It never changes.", \.code)
        $0.field("detail", "The cause of this error, and its remedy.", \.detail)
        $0.field(
            "couldSucceedLater", "True if the same request may succeed later although nobody changes anything.",
            \.couldSucceedLater)
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

/// Converts every error of a route into a problem document. It hides internal errors from the client.
package struct ProblemMiddleware: RouterMiddleware {
    package init() {}

    package func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            return try Self.problem(of: error, context).response()
        }
    }

    /// Notes and logs an error, and returns its problem document.
    package static func problem(of error: any Error, _ context: ServiceContext) -> Problem {
        let known = Problem(error)
        func log(_ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata, of cause: String) {
            // An error that strangers can cause on one route hides none of another.
            let cause = level >= .error ? "\(context.endpointPath ?? "NotFound") \(cause)" : cause
            let level = context.sharedLimits?.lines.level(level, of: cause, in: context.logger) ?? level
            context.logger.log(level: level, message, metadata: metadata)
        }
        if known == nil {
            let type = "\(type(of: error))"
            log(.error, "unexpected error", ["type": "\(type)"], of: type)
        }
        let problem = known ?? .unexpected
        context.notes.code = problem.code
        // The status 503 is not a defect of the service, and any client can provoke it.
        if problem.status >= 500 {
            log(
                problem.status == 503 ? .info : .error, "the service cannot answer", ["code": "\(problem.code)"],
                of: problem.code)
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

package enum JSONAnswer {
    package static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(value))
    }

    package static func encode(_ value: JSONValue) -> [UInt8] { value.compactBytes }

    package static func response(_ value: some Encodable) throws -> Response {
        response(bytes: try encode(value))
    }

    /// Returns a response with an entity tag (see `CacheableAnswer`).
    package static func cacheable(
        _ bytes: [UInt8], for request: Request, headers: HTTPFields = [:]
    ) -> Response {
        CacheableAnswer(bytes, type: "application/json").response(to: request, headers: headers)
    }

    package static func response(
        bytes: [UInt8], status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        headers.reserveForAnswer()
        headers[.contentType] = "application/json"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

/// An answer that a client may cache, with its entity tag. It can be kept and sent again.
package struct CacheableAnswer: Sendable {
    private let body: ByteBuffer
    private let type: String
    private let tag: String

    package init(_ bytes: [UInt8], type: String) {
        body = ByteBuffer(bytes: bytes)
        self.type = type
        tag = Self.tag(of: bytes)
    }

    package var size: Int { body.readableBytes }

    /// Returns a strong entity tag (RFC 9110 section 8.8.3).
    package static func tag(of bytes: [UInt8]) -> String {
        var digest = SHA256State()
        digest.update(bytes[...])
        let digits = digest.hexadecimal(ofFirst: 16)
        var tag = ""
        tag.reserveCapacity(digits.utf8.count + 2)
        tag += "\""
        tag += digits
        tag += "\""
        return tag
    }

    /// Returns the bytes with their entity tag, or 304 without a body if the client already has them (RFC 9110 section
    /// 13.1.2).
    package func response(to request: Request, headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers.reserveForAnswer()
        headers[.eTag] = tag
        let known = request.headers[values: .ifNoneMatch].flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
        if known.contains(where: { $0 == "*" || $0 == tag || $0 == "W/" + tag }) {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = type
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
    }
}

extension HTTPFields {
    /// Makes room for the fields of an answer and those that the server adds, so that the list does not grow by each.
    package mutating func reserveForAnswer() { reserveCapacity(8) }
}
