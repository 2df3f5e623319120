/// A revocation by the team, of a grant or of a transaction.
package struct RevocationResource: Codable, Sendable {
    /// RFC 3339, UTC.
    package let revokedAt: String
    package let reason: String
    /// The identifier of the API key.
    package let revokedBy: String
    /// The name of the API key; nil if the ledger does not have the key, and in answers to users.
    package var revokedByName: String?
}
