/// A revocation by the team, of a grant or of a transaction.
public struct RevocationResource: Codable, Sendable {
    /// RFC 3339, UTC.
    public let revokedAt: String
    public let reason: String
    /// The identifier of the API key.
    public let revokedBy: String
    /// The name of the API key; nil if the ledger does not have the key, and in answers to users.
    public let revokedByName: String?

    public init(revokedAt: String, reason: String, revokedBy: String, revokedByName: String? = nil) {
        self.revokedAt = revokedAt
        self.reason = reason
        self.revokedBy = revokedBy
        self.revokedByName = revokedByName
    }
}
