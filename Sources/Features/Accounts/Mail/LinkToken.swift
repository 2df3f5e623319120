import Proofs

/// The secret of a mailed link. Presenting it proves access to the mailbox.
///
/// It is a prefix, then in base64 (RFC 4648 section 5) the user's number (8 bytes, big-endian) and 34 random bytes. The ledger
/// stores only its SHA-256. The user's number finds the row in a ledger that is sharded by it.
package struct LinkToken: Hashable, Sendable {
    private static let prefix = "tl_"
    private static let size = 42

    package let text: String
    let user: Int64

    init(of user: Int64, randomness: Randomness) {
        let number = withUnsafeBytes(of: user.bigEndian) { Array($0) }
        text = Self.prefix + Base64.encode(number + randomness.bytes(Self.size - number.count), .urlSafe)
        self.user = user
    }

    /// - Returns: Nil for a malformed text.
    init?(_ text: String) {
        guard text.utf8.count == Self.prefix.utf8.count + Self.size / 3 * 4, text.hasPrefix(Self.prefix),
            let bytes = Base64.decode(text.utf8.dropFirst(Self.prefix.utf8.count), .urlSafe)
        else { return nil }
        self.text = text
        user = Int64(bitPattern: bytes[..<8].reduce(0) { UInt64($0) << 8 | UInt64($1) })
    }

    var digest: [UInt8] { DigestAlgorithm.sha256.digest(of: Array(text.utf8)) }
}
