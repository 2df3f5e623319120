import Proofs

/// A random secret, such as the token of a session or of a one-time link. Its holder is treated as the person it was made for.
///
/// Its text is a prefix for its kind, then base64 (RFC 4648 section 5) of the content: the bytes that find its row in the
/// ledger, then random bytes. The ledger stores only the SHA-256 of the text, which decides if it is valid.
package struct Secret: Hashable, Sendable {
    /// The number of random bytes of a secret that contains nothing else.
    package static let size = 32

    package let text: String
    let content: [UInt8]

    /// A new secret.
    ///
    /// - Parameters:
    ///   - known: The first bytes of the content.
    ///   - count: The number of bytes of the content.
    package init(_ prefix: String = "", of known: [UInt8] = [], count: Int = size, randomness: Randomness) {
        content = known + randomness.bytes(count - known.count)
        text = prefix + Base64.encode(content, .urlSafe)
    }

    /// A presented secret.
    ///
    /// - Returns: Nil for a malformed text, or another kind.
    package init?(_ prefix: String = "", presented text: String, count: Int = size) {
        let length = text.utf8.count - prefix.utf8.count
        guard text.hasPrefix(prefix), length == (4 * count + 2) / 3,
            let content = Base64.decode(text.utf8.dropFirst(prefix.utf8.count), .urlSafe)
        else { return nil }
        self.text = text
        self.content = content
    }

    var digest: [UInt8] { DigestAlgorithm.sha256.digest(of: Array(text.utf8)) }

    /// The number in eight bytes of the content.
    func number(at start: Int) -> Int64 {
        Int64(bitPattern: content[start..<start + 8].reduce(0) { UInt64($0) << 8 | UInt64($1) })
    }
}

extension Int64 {
    /// The eight bytes of the number, big-endian.
    var bytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
