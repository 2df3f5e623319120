import Proofs

/// An item that the team has given to a user without a purchase.
public struct GrantResource: Codable, Sendable {
    public let grantId: String
    public let item: Item
    public let reason: String
    /// The identifier of the API key.
    public let grantedBy: String
    /// The name of the API key; nil if the ledger does not have the key.
    public let grantedByName: String?
    /// Dates are RFC 3339, UTC.
    public let grantedAt: String
    /// Nil if the grant has no end.
    public let endsAt: String?
    /// Nil until the team revokes the grant.
    public let revocation: RevocationResource?

    public init(
        grantId: String,
        item: Item,
        reason: String,
        grantedBy: String,
        grantedByName: String? = nil,
        grantedAt: String,
        endsAt: String? = nil,
        revocation: RevocationResource? = nil
    ) {
        self.grantId = grantId
        self.item = item
        self.reason = reason
        self.grantedBy = grantedBy
        self.grantedByName = grantedByName
        self.grantedAt = grantedAt
        self.endsAt = endsAt
        self.revocation = revocation
    }
}
