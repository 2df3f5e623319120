import Proofs

/// The purpose of a mailed link.
package enum LinkPurpose: String, Sendable, CaseIterable {
    /// Verifies the address of an account. If the account is another person's, it releases the address instead.
    case verification
    /// Sets a new password.
    case reset
    /// Confirms at the old address that a new one replaces it.
    case addressChange
    /// Confirms the new address.
    case newAddress

    /// The lifetime of a link, in seconds.
    var lifetime: Int64 {
        switch self {
        case .reset: 3600
        case .verification, .addressChange, .newAddress: 86_400
        }
    }
}

/// The result of a confirmation.
package enum Confirmation: String, Sendable {
    /// The address of the account is verified.
    case verified
    /// The account has the new address.
    case changed
    /// The change waits for the confirmation at the other address.
    case waitsForOther
}

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
