import Commerce
import Ledger

/// A device on which somebody is logged in, as the ledger keeps it: of its tokens, only digests.
public struct SessionRecord: Hashable, Sendable {
    /// The user's number.
    public let user: Int64
    /// 16 bytes; what is between one log-in and its end has one, however often its tokens are renewed. Access tokens have it.
    public let identifier: [UInt8]
    /// The same, for refresh tokens.
    public let refreshIdentifier: [UInt8]
    /// The SHA-256 of the one refresh token that is good.
    public let refreshDigest: [UInt8]
    /// The SHA-256 of the access token given last.
    public let accessDigest: [UInt8]
    /// Of the one given before, which is good until it ends; nil where there was none.
    public let previousAccessDigest: [UInt8]?
    public let beganAt: Timestamp
    /// When the refresh token ends.
    public let endsAt: Timestamp

    /// The session, as refresh tokens name it.
    public var refreshReference: SessionReference { SessionReference(identifier: refreshIdentifier, user: user) }

    public init(
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

/// What became of a session whose tokens were to be renewed.
public enum SessionRenewal: Hashable, Sendable {
    case renewed
    case unknown
    case ended
    /// The token was another than the last one given: somebody has a copy, and the session was ended.
    case reused
}
