import Foundation
import Proofs

/// A token of a session. Its holder is treated as the logged-in user.
///
/// It is a prefix for its kind, then base64 (RFC 4648 section 5) of: the identifier of the session (16 bytes), the user's
/// number and the expiration in milliseconds since 1970 (8 bytes each, big-endian), and 19 random bytes. Access and refresh
/// tokens have different identifiers, so an access token cannot end a session. The ledger stores only the SHA-256 of the token,
/// which decides if it is valid.
///
/// The user's number finds the session's row in a ledger that is sharded by it.
package struct SessionToken: Hashable, Sendable {
    package enum Kind: String, Sendable {
        /// Sent with each request; valid for minutes.
        case access = "ta_"
        /// Sent once, for a new pair.
        case refresh = "tr_"
    }

    private static let size = 51

    package let text: String
    let session: SessionReference
    package let endsAt: Timestamp

    init(_ kind: Kind, of identifier: [UInt8], of user: Int64, endsAt: Timestamp, randomness: Randomness) {
        func bytes(_ number: Int64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        let content = identifier + bytes(user) + bytes(endsAt.millisecondsSince1970) + randomness.bytes(19)
        text = kind.rawValue + Base64.encode(content, .urlSafe)
        session = SessionReference(identifier: identifier, user: user)
        self.endsAt = endsAt
    }

    /// - Returns: Nil for a malformed text, or another kind.
    init?(_ kind: Kind, _ text: String) {
        let length = text.utf8.count - kind.rawValue.utf8.count
        guard text.hasPrefix(kind.rawValue), length == Self.size / 3 * 4,
            let bytes = Base64.decode(text.utf8.dropFirst(kind.rawValue.utf8.count), .urlSafe)
        else { return nil }
        func number(at start: Int) -> Int64 {
            Int64(bitPattern: bytes[start..<start + 8].reduce(0) { UInt64($0) << 8 | UInt64($1) })
        }
        self.text = text
        session = SessionReference(identifier: Array(bytes[..<16]), user: number(at: 16))
        endsAt = Timestamp(millisecondsSince1970: number(at: 24))
    }

    var digest: [UInt8] { DigestAlgorithm.sha256.digest(of: Array(text.utf8)) }
}

/// The tokens of a log-in or a renewal.
package struct SessionTokens: Hashable, Sendable {
    package let access: SessionToken
    package let refresh: SessionToken
}

/// The session reference in a token.
package struct SessionReference: Hashable, Sendable {
    /// The identifier of the session, 16 bytes. Access and refresh tokens have different ones.
    package let identifier: [UInt8]
    /// The number of the session's user.
    package let user: Int64

    package init(identifier: [UInt8], user: Int64) {
        self.identifier = identifier
        self.user = user
    }
}
