import Proofs

/// An item that the team has given to a user without a purchase.
package struct GrantResource: Codable, Sendable {
    package let grantId: String
    package let item: Item
    package let reason: String
    /// The identifier of the API key.
    package let grantedBy: String
    /// The name of the API key; nil if the ledger does not have the key.
    package var grantedByName: String?
    /// Dates are RFC 3339, UTC.
    package let grantedAt: String
    /// Nil if the grant has no end.
    package var endsAt: String?
    /// Nil until the team revokes the grant.
    package var revocation: RevocationResource?
}
