/// How users' tokens may be signed (RFC 7518 section 3.1, RFC 8037): with a key pair, never with a shared secret.
public enum TokenAlgorithm: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    case edDSA = "EdDSA"

    /// What a key without `alg` (RFC 7517 section 4.4) is for.
    package init?(keyType: String, curve: String?) {
        switch (keyType, curve) {
        case ("RSA", _): self = .rs256
        case ("EC", "P-256"): self = .es256
        case ("EC", "P-384"): self = .es384
        case ("EC", "P-521"): self = .es512
        case ("OKP", "Ed25519"): self = .edDSA
        default: return nil
        }
    }

    /// The type of the keys it takes (RFC 7518 section 6.1).
    package var keyType: String {
        switch self {
        case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512: "RSA"
        case .es256, .es384, .es512: "EC"
        case .edDSA: "OKP"
        }
    }
}
