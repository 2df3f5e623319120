import Proofs

/// The record of a caller's API key. It has no secret.
package struct APIKeyRecord: Hashable, Sendable {
    /// The beginning of the key, by which people and logs name it. A public key is its own identifier.
    package let identifier: String
    /// The name that its maker gave it.
    package let name: String
    /// The scopes, in words of the service's.
    package let scopes: [String]
    /// The bundle identifier of the only app that it is for; nil for all apps.
    package let app: String?
    /// The platform of an app's public key; nil for the secret key of a back end.
    package let platform: String?
    /// The SHA-256 of the secret; for a public key, of the key.
    package let secretDigest: [UInt8]
    package let createdAt: Timestamp
    /// The time from which the service refuses the key; nil if it does not expire.
    package let expiresAt: Timestamp?
    /// The time of the last recorded use, at most about an hour old; nil before the first.
    package let lastUsedAt: Timestamp?
    /// The time of its revocation; nil if it was not revoked.
    package let revokedAt: Timestamp?

    package init(
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
    package func isValid(at moment: Timestamp) -> Bool {
        revokedAt == nil && expiresAt.map { moment < $0 } ?? true
    }
}
