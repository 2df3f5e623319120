/// The names that a ledger has for the purchase tokens of Google Play.
///
/// Whoever presents a token gets its purchase, so a token is a secret like a key. The name is a keyed digest: it proves nothing, and
/// nobody without the ledger's key finds out which token it is of. It is the same before and after the order is known.
package struct PurchaseTokenNames: Hashable, Sendable {
    /// The beginning of each name. Neither an order nor a transaction of the App Store begins so.
    package static let prefix = "token-"
    /// The number of bytes of the digest in a name.
    private static let digestLength = 16

    private let key: [UInt8]

    /// - Parameter key: The ledger's random key.
    package init(key: [UInt8]) { self.key = key }

    /// The name of a token: `token-` and 32 hexadecimal digits.
    package func name(of token: String) -> String {
        let digest = MessageAuthentication.hmac(.sha256, of: Array(token.utf8), secret: key)
        return Self.prefix + digest.prefix(Self.digestLength).hexadecimal
    }
}
