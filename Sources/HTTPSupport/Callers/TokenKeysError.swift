import Commerce

/// The keys of a token issuer cannot be used.
public enum TokenKeysError: CodedError, Equatable {
    /// The file cannot be read.
    case unreadable
    /// The address was not reached, or did not answer with keys.
    case unreachable
    case malformed
    case noUsableKey

    public var code: String { "tokenKeysUnusable" }

    public var message: String {
        switch self {
        case .unreadable: "The file of jwt-keys cannot be read."
        case .unreachable: "The address of jwt-keys did not answer with a JWK Set."
        case .malformed: "What jwt-keys leads to is no JWK Set (RFC 7517)."
        case .noUsableKey:
            "The JWK Set of jwt-keys has no key for any of jwt-algorithms: RSA keys need 2048 bits, and none may be secret."
        }
    }
}
