import Commerce
import Entitlements
import Foundation
import HTTPTypes
import Hummingbird
import Ledger
import Receipts

/// An error as the service answers it: a problem document (RFC 9457) with Till's stable code.
struct Problem: Error, Encodable {
    static let contentType = "application/problem+json"

    /// Where the code is explained: the service's own page (`Resources/Errors.md`), which the address leads to relative to
    /// whatever was asked.
    let type: String
    let title: String
    let status: Int
    let code: String
    let detail: String
    /// Whether the same request may succeed without anybody changing it.
    let couldSucceedLater: Bool
    /// What the answer has besides the document.
    private(set) var headers: HTTPFields = [.contentType: Self.contentType]

    private enum CodingKeys: String, CodingKey {
        case type, title, status, code, detail, couldSucceedLater
    }

    init(
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

    static func methodNotAllowed(allowed: [String]) -> Problem {
        let methods = allowed.joined(separator: ", ")
        var problem = Problem(
            status: .methodNotAllowed, code: "methodNotAllowed", detail: "This path knows the methods \(methods).")
        problem.headers[.allow] = methods
        return problem
    }

    init(_ error: RedemptionError) {
        let status: HTTPResponse.Status
        var couldSucceedLater = false
        switch error {
        case .refused(let refusal) where refusal.reason == .tooLarge: status = .contentTooLarge
        case .refused(let refusal):
            status = .unprocessableContent
            couldSucceedLater = refusal.reason.couldSucceedLater
        case .transferTooSoon:
            status = .conflict
            couldSucceedLater = true
        case .notRedeemable, .noNotification, .productUnknown: status = .unprocessableContent
        case .ownedByAnotherUser, .appAccountTokenMismatch: status = .conflict
        case .userUnknown:
            self = .userNotFound
            return
        }
        self.init(
            status: status, code: error.code, detail: error.message, couldSucceedLater: couldSucceedLater)
    }

    init(_ error: LedgerError) {
        switch error {
        case .userUnknown: self = .userNotFound
        }
    }

    init(_ error: GrantError) {
        let status: HTTPResponse.Status
        switch error {
        case .itemUnknown, .endPassed: status = .unprocessableContent
        case .grantNotFound, .transactionNotFound: status = .notFound
        case .transactionAmbiguous: status = .conflict
        }
        self.init(status: status, code: error.code, detail: error.message)
    }

    init(_ error: BalanceError) {
        switch error {
        case .balanceUnknown: self.init(status: .notFound, code: error.code, detail: error.message)
        case .balanceTooLow:
            self.init(status: .conflict, code: error.code, detail: error.message, couldSucceedLater: true)
        case .idempotencyKeyReused: self.init(status: .conflict, code: error.code, detail: error.message)
        }
    }

    /// Where the ledger lies on the server's disk is not the caller's to know.
    init(_ fault: StorageFault) {
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
    var isForTheOperatorToMend: Bool {
        Self.codesForTheOperatorToMend.contains(code)
    }

    static let codesForTheOperatorToMend: Set<String> = [
        "chainUntrusted", "originNotAccepted", "bundleIdentifierMismatch", "productUnknown", "itemUnknown",
        "balanceUnknown",
    ]

    func response() throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Response(
            status: .init(code: status, reasonPhrase: title), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try encoder.encode(self))))
    }
}
