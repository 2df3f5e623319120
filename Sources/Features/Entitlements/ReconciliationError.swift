import Proofs

/// An error of a request to the App Store Server API. Changes that were applied before stay. A retry changes nothing twice.
package enum ReconciliationError: CodedError, Equatable {
    case keyInvalid
    case unreachable(host: String)
    /// - Parameter code: Apple's number; nil if the answer has none.
    case refused(status: Int, code: Int64?)
    /// The App Store refuses tokens because of this machine's clock. Negative seconds are behind the App Store's clock.
    case clockWrong(secondsAhead: Int64)
    case answerInvalid
    /// The service refused an answer of the App Store, for a cause that the operator can remove.
    case refusedByService(code: String)
    /// The task was cancelled.
    case cancelled

    package var code: String {
        switch self {
        case .keyInvalid: "appStoreKeyInvalid"
        case .unreachable: "appStoreUnreachable"
        case .refused: "appStoreRefused"
        case .clockWrong: "appStoreRefused"
        case .answerInvalid: "appStoreAnswerInvalid"
        case .refusedByService(let code): code
        case .cancelled: "appStoreCancelled"
        }
    }

    package var message: String {
        switch self {
        case .keyInvalid:
            "The private key is not a key for the App Store Server API. Use the EC key in PEM (.p8) from App Store Connect."
        case .unreachable(let host): "The App Store Server API at \"\(host)\" does not answer. Try again later."
        case .refused(401, _):
            "The App Store Server API does not accept the key. Check the key, its identifier, the issuer's identifier, and the app."
        case .clockWrong(let seconds):
            "The App Store Server API refuses tokens: this machine's clock is \(abs(seconds)) seconds \(seconds < 0 ? "behind" : "ahead"). Set the clock."
        case .refused(let status, let code):
            "The App Store Server API answered with \(status)\(code.map { " (\($0))" } ?? "")."
        case .answerInvalid: "The answer of the App Store Server API does not have Apple's form. Check the address."
        case .refusedByService(let code):
            "The service refuses the answer of the App Store (\(code)). Remove the cause, and the service asks again."
        case .cancelled: "The request to the App Store Server API was cancelled."
        }
    }

    /// Apple's numbers for errors that a retry may solve.
    private static let retryableCodes: Set<Int64> = [4_040_002, 4_040_004, 4_040_006]

    /// True if the App Store refused the request and would refuse a retry.
    package var isFinal: Bool {
        guard case .refused(let status, let code?) = self else { return false }
        return (400...499).contains(status) && ![401, 403, 408, 429].contains(status)
            && !Self.retryableCodes.contains(code)
    }

    /// True if the error concerns one request, and others may succeed.
    package var concernsOneRequest: Bool {
        switch self {
        case .answerInvalid: true
        case .refused(let status, let code): isFinal || status >= 500 || code.map(Self.retryableCodes.contains) == true
        case .keyInvalid, .unreachable, .clockWrong, .refusedByService, .cancelled: false
        }
    }
}
