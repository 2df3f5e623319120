import Commerce

/// Why the App Store could not be asked what was missed. What was applied before stays, and asking again changes nothing twice.
public enum ReconciliationError: CodedError, Equatable {
    case keyInvalid
    case unreachable(host: String)
    /// With Apple's own number, where it gave one.
    case refused(status: Int, code: Int64?)
    case answerInvalid
    /// What the App Store tells is refused, for a reason that the operator can mend: the code of the refusal.
    case refusedHere(code: String)
    /// Whoever asked was told to stop.
    case cancelled

    public var code: String {
        switch self {
        case .keyInvalid: "appStoreKeyInvalid"
        case .unreachable: "appStoreUnreachable"
        case .refused: "appStoreRefused"
        case .answerInvalid: "appStoreAnswerInvalid"
        case .refusedHere(let code): code
        case .cancelled: "appStoreCancelled"
        }
    }

    public var message: String {
        switch self {
        case .keyInvalid: "The private key is no key for the App Store Server API: it has to be an EC key in PEM (.p8)."
        case .unreachable(let host): "The App Store Server API at \(host) does not answer: try again later."
        case .refused(401, _):
            "The App Store Server API does not accept the key: check the key, its identifier, the issuer's, and the app."
        case .refused(let status, let code):
            "The App Store Server API answered with \(status)\(code.map { " (\($0))" } ?? "")."
        case .answerInvalid: "The App Store Server API answered in a form that is not Apple's."
        case .refusedHere(let code):
            "What the App Store tells is refused here (\(code)): mend that, and it is asked for once more."
        case .cancelled: "The App Store Server API was not waited for."
        }
    }

    /// Apple's numbers for what may well be answered later.
    private static let retryableCodes: Set<Int64> = [4_040_002, 4_040_004, 4_040_006]

    /// Whether the App Store itself has refused what was asked, and would again.
    package var isFinal: Bool {
        guard case .refused(let status, let code?) = self else { return false }
        return (400...499).contains(status) && ![401, 403, 408, 429].contains(status)
            && !Self.retryableCodes.contains(code)
    }

    /// Whether something else may well be answered.
    package var isAboutOneRequest: Bool {
        switch self {
        case .answerInvalid: true
        case .refused(let status, let code): isFinal || status >= 500 || code.map(Self.retryableCodes.contains) == true
        case .keyInvalid, .unreachable, .refusedHere, .cancelled: false
        }
    }
}
