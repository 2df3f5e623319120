/// A proof of purchase in text. The device sends it to the service and does not read its content.
package enum Proof: Hashable, Sendable {
    /// The app receipt (PKCS#7), in base64.
    case receipt(String)
    /// A signed transaction (JWS).
    case signedTransaction(String)

    package var text: String {
        switch self {
        case .receipt(let text), .signedTransaction(let text): text
        }
    }
}
