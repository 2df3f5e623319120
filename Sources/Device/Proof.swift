/// A proof of purchase as the device holds it: text that it hands on and does not look into.
public enum Proof: Hashable, Sendable {
    /// The app receipt (PKCS#7), in base64.
    case receipt(String)
    /// A signed transaction (JWS).
    case signedTransaction(String)

    public var text: String {
        switch self {
        case .receipt(let text), .signedTransaction(let text): text
        }
    }
}
