import Proofs

/// The record of a caller's API key. It has no secret.
public struct APIKeyRecord: Hashable, Sendable {
    /// The beginning of the key, by which people and logs name it. A public key is its own identifier.
    public let identifier: String
    /// The name that its maker gave it.
    public let name: String
    /// The scopes, in words of the service's.
    public let scopes: [String]
    /// The bundle identifier of the only app that it is for; nil for all apps.
    public let app: String?
    /// The platform of an app's public key; nil for the secret key of a back end.
    public let platform: String?
    /// The SHA-256 of the secret; for a public key, of the key.
    public let secretDigest: [UInt8]
    public let createdAt: Timestamp
    /// The time from which the service refuses the key; nil if it does not expire.
    public let expiresAt: Timestamp?
    /// The time of the last recorded use, at most about an hour old; nil before the first.
    public let lastUsedAt: Timestamp?
    /// The time of its revocation; nil if it was not revoked.
    public let revokedAt: Timestamp?

    public init(
        identifier: String,
        name: String,
        scopes: [String],
        app: String? = nil,
        platform: String? = nil,
        secretDigest: [UInt8],
        createdAt: Timestamp,
        expiresAt: Timestamp? = nil,
        lastUsedAt: Timestamp? = nil,
        revokedAt: Timestamp? = nil
    ) {
        self.identifier = identifier
        self.name = name
        self.scopes = scopes
        self.app = app
        self.platform = platform
        self.secretDigest = secretDigest
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.lastUsedAt = lastUsedAt
        self.revokedAt = revokedAt
    }

    /// True if the service accepts the key at a moment.
    public func isValid(at moment: Timestamp) -> Bool {
        revokedAt == nil && expiresAt.map { moment < $0 } ?? true
    }
}
