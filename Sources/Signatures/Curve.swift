/// The elliptic curves of Apple's chains: P-256 in leaves, P-384 above them.
public enum Curve: String, Sendable, CaseIterable {
    case p256 = "P-256"
    case p384 = "P-384"

    /// OpenSSL's name of the group.
    var groupName: String {
        switch self {
        case .p256: "prime256v1"
        case .p384: "secp384r1"
        }
    }
}
