import Proofs

/// The keys of a token issuer are not usable.
package enum TokenKeysError: CodedError, Equatable {
    /// The file cannot be read.
    case unreadable
    /// The address did not respond, or not with keys.
    case unreachable
    case malformed
    case noUsableKey

    package var code: String { "tokenKeysUnusable" }

    package var message: String {
        switch self {
        case .unreadable: "The file of jwt-keys cannot be read. Check its path and permissions."
        case .unreachable: "The address of jwt-keys did not return a JWK Set. Check the address and its server."
        case .malformed: "The content of jwt-keys must be a JWK Set (RFC 7517)."
        case .noUsableKey:
            "The JWK Set of jwt-keys has no key for jwt-algorithms. Keys must be public, and RSA keys need 2048 bits."
        }
    }
}
