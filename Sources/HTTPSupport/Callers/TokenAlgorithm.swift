import Proofs

/// The signature algorithms of users' tokens (RFC 7518 section 3.1, RFC 8037). They use key pairs, never shared
/// secrets.
package enum TokenAlgorithm: String, Sendable, CaseIterable {
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

    /// The algorithm of a key without `alg` (RFC 7517 section 4.4). Nil if the key cannot sign tokens.
    init?(keyKind: PublicKey.Kind) {
        switch keyKind {
        case .rsa: self = .rs256
        case .ellipticCurve(.p256): self = .es256
        case .ellipticCurve(.p384): self = .es384
        case .ellipticCurve(.p521): self = .es512
        case .ed25519: self = .edDSA
        case .other: return nil
        }
    }

    /// True if the algorithm uses keys of this kind.
    package func accepts(_ keyKind: PublicKey.Kind) -> Bool {
        switch self {
        case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512:
            if case .rsa = keyKind { true } else { false }
        case .es256, .es384, .es512, .edDSA: Self(keyKind: keyKind) == self
        }
    }
}
