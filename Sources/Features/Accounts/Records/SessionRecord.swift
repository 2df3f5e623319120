import Ledger
import Proofs

/// A session of a device as the ledger stores it. It has only digests of the tokens.
package struct SessionRecord: Hashable, Sendable {
    /// The user's number.
    package let user: Int64
    /// The identifier in access tokens, 16 bytes. It stays the same from log-in to log-out.
    package let identifier: [UInt8]
    /// The identifier in refresh tokens, 16 bytes.
    package let refreshIdentifier: [UInt8]
    /// The SHA-256 of the valid refresh token.
    package let refreshDigest: [UInt8]
    /// The SHA-256 of the latest access token.
    package let accessDigest: [UInt8]
    /// The SHA-256 of the previous access token, which is valid until it expires; nil if there is none.
    package let previousAccessDigest: [UInt8]?
    package let beganAt: Timestamp
    /// The expiration of the refresh token.
    package let endsAt: Timestamp

    /// The session reference of refresh tokens.
    var refreshReference: SessionReference { SessionReference(identifier: refreshIdentifier, user: user) }

    package init(
        user: Int64,
        identifier: [UInt8],
        refreshIdentifier: [UInt8],
        refreshDigest: [UInt8],
        accessDigest: [UInt8],
        previousAccessDigest: [UInt8]? = nil,
        beganAt: Timestamp,
        endsAt: Timestamp
    ) {
        self.user = user
        self.identifier = identifier
        self.refreshIdentifier = refreshIdentifier
        self.refreshDigest = refreshDigest
        self.accessDigest = accessDigest
        self.previousAccessDigest = previousAccessDigest
        self.beganAt = beganAt
        self.endsAt = endsAt
    }
}

/// The result of a renewal.
package enum SessionRenewal: Hashable, Sendable {
    case renewed
    case unknown
    case ended
    /// The token was an earlier one, so it was copied. The session was ended.
    case reused
}
