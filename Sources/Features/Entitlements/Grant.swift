import Ledger
import Proofs

/// An item given to a user without a purchase, such as a promotion or an apology.
package struct Grant: Hashable, Sendable {
    /// The number among the user's grants. Newer grants have greater numbers. 0 before the grant is stored.
    package let sequence: Int64
    package let identifier: String
    package let item: Item
    /// The reason, in the team's own words.
    package let reason: String
    /// The identifier of the API key.
    package let grantedBy: String
    package let grantedAt: Timestamp
    /// The end of the grant; nil for none.
    package let endsAt: Timestamp?
    /// Nil if the grant is not revoked.
    package var revocation: Revocation? { revocations.first }
    /// At most one element. The array keeps the value small enough for throwing functions to return.
    private let revocations: [Revocation]

    package init(
        sequence: Int64 = 0,
        identifier: String,
        item: Item,
        reason: String,
        grantedBy: String,
        grantedAt: Timestamp,
        endsAt: Timestamp?,
        revocation: Revocation? = nil
    ) {
        self.sequence = sequence
        self.identifier = identifier
        self.item = item
        self.reason = reason
        self.grantedBy = grantedBy
        self.grantedAt = grantedAt
        self.endsAt = endsAt
        revocations = revocation.map { [$0] } ?? []
    }
}

/// A revocation by the team. It is independent of the App Store's revocations.
package struct Revocation: Hashable, Sendable {
    package let revokedAt: Timestamp
    /// The reason, in the team's own words.
    package let reason: String
    /// The identifier of the API key.
    package let revokedBy: String

    package init(revokedAt: Timestamp, reason: String, revokedBy: String) {
        self.revokedAt = revokedAt
        self.reason = reason
        self.revokedBy = revokedBy
    }
}
