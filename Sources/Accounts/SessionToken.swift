import Commerce
import Foundation
import Signatures

/// A token of a session: whoever presents it is taken for whoever has logged in.
///
/// It reads as its kind's prefix, then in base64 (RFC 4648 section 5) a name of the session's (16 bytes; another in access tokens
/// than in refresh tokens, so that an access token is of no use to end it), when it ends (milliseconds since 1970, 8 bytes,
/// big-endian) and 24 random bytes. Of all that only the SHA-256 is kept, and only that makes it good: when a bad one says
/// that it has ended, that is its own affair.
public struct SessionToken: Hashable, Sendable {
    public enum Kind: String, Sendable {
        /// Sent with each request; good for minutes.
        case access = "ta_"
        /// Sent once, for a new pair.
        case refresh = "tr_"
    }

    private static let size = 48

    public let text: String
    /// By which the session is found.
    let session: [UInt8]
    public let endsAt: Timestamp

    init(_ kind: Kind, of session: [UInt8], endsAt: Timestamp, randomness: Randomness) {
        let end = withUnsafeBytes(of: endsAt.millisecondsSince1970.bigEndian) { Array($0) }
        text = kind.rawValue + Base64.encode(session + end + randomness.bytes(24), .urlSafe)
        self.session = session
        self.endsAt = endsAt
    }

    /// - Returns: nil for a text of another form or kind.
    init?(_ kind: Kind, _ text: String) {
        guard text.hasPrefix(kind.rawValue), text.utf8.count == kind.rawValue.utf8.count + Self.size / 3 * 4,
            let bytes = Base64.decode(text.utf8.dropFirst(kind.rawValue.utf8.count), .urlSafe)
        else { return nil }
        self.text = text
        session = Array(bytes[..<16])
        let end = bytes[16..<24].reduce(0) { UInt64($0) << 8 | UInt64($1) }
        endsAt = Timestamp(millisecondsSince1970: Int64(bitPattern: end))
    }

    var digest: [UInt8] { DigestAlgorithm.sha256.digest(of: Array(text.utf8)) }
}

/// What a device is given when somebody logs in, and when it presents a refresh token.
public struct SessionTokens: Hashable, Sendable {
    public let access: SessionToken
    public let refresh: SessionToken
}
