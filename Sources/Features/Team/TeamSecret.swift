import Proofs

/// A random secret for a session or an invitation. The ledger stores only its digest.
struct TeamSecret: Sendable {
    private static let length = 32

    /// The secret in base64url.
    let text: String
    /// The SHA-256 of the secret's bytes.
    let digest: [UInt8]

    init(_ randomness: Randomness) {
        let bytes = randomness.bytes(Self.length)
        text = Base64.encode(bytes, .urlSafe)
        digest = DigestAlgorithm.sha256.digest(of: bytes)
    }

    /// The digest of a presented secret; nil if the text cannot be one.
    static func digest(of text: String) -> [UInt8]? {
        guard text.utf8.count == 43, let bytes = Base64.decode(Array(text.utf8)[...], .urlSafe),
            bytes.count == length
        else { return nil }
        return DigestAlgorithm.sha256.digest(of: bytes)
    }
}
