import Commerce

/// A caller's API key as the ledger keeps it: everything but the secret.
public struct APIKeyRecord: Hashable, Sendable {
    /// What the key begins with, by which people and logs name it.
    public let identifier: String
    /// What its maker called it.
    public let name: String
    /// What it allows, in words of the service's.
    public let scopes: [String]
    /// The bundle identifier of the only app that it is for; nil for all apps.
    public let app: String?
    /// The SHA-256 of the secret.
    public let secretDigest: [UInt8]
    public let createdAt: Timestamp
    /// Since when it is refused; nil while it is good.
    public let revokedAt: Timestamp?

    public init(
        identifier: String,
        name: String,
        scopes: [String],
        app: String? = nil,
        secretDigest: [UInt8],
        createdAt: Timestamp,
        revokedAt: Timestamp? = nil
    ) {
        self.identifier = identifier
        self.name = name
        self.scopes = scopes
        self.app = app
        self.secretDigest = secretDigest
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }
}
