import Commerce

/// Why the App Store could not be asked what was missed. What was applied before stays, and asking again changes nothing twice.
public enum ReconciliationError: CodedError, Equatable {
    case keyInvalid
    case unreachable(host: String)
    /// With Apple's own number, where it gave one.
    case refused(status: Int, code: Int64?)
    case answerInvalid
    /// Whoever asked was told to stop.
    case cancelled

    public var code: String {
        switch self {
        case .keyInvalid: "appStoreKeyInvalid"
        case .unreachable: "appStoreUnreachable"
        case .refused: "appStoreRefused"
        case .answerInvalid: "appStoreAnswerInvalid"
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
        case .cancelled: "The App Store Server API was not waited for."
        }
    }

    /// Whether the App Store refused what was asked, and may well answer something else.
    var isAboutOneRequest: Bool {
        guard case .refused(let status, _) = self else { return false }
        return (400...499).contains(status) && ![401, 429].contains(status)
    }
}
