import Commerce
import Ledger

/// An item given to a user without a purchase, such as a promotion or an apology.
public struct Grant: Hashable, Sendable {
    /// Its number among all grants, which grows with time; 0 of one that was not read from the ledger.
    public let sequence: Int64
    public let identifier: String
    public let item: Item
    /// Why, in the team's own words.
    public let reason: String
    /// Whose API key it was.
    public let grantedBy: String
    public let grantedAt: Timestamp
    /// From when on it counts no more; nil for one that lasts.
    public let endsAt: Timestamp?
    /// nil while nobody has taken it back.
    public var revocation: Revocation? { revocations.first }
    /// At most one; behind an array, so that a grant stays small enough to be returned by what throws.
    private let revocations: [Revocation]

    public init(
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

/// That the team has taken something back, which the App Store's word neither does nor undoes.
public struct Revocation: Hashable, Sendable {
    public let revokedAt: Timestamp
    /// Why, in the team's own words.
    public let reason: String
    /// Whose API key it was.
    public let revokedBy: String

    public init(revokedAt: Timestamp, reason: String, revokedBy: String) {
        self.revokedAt = revokedAt
        self.reason = reason
        self.revokedBy = revokedBy
    }
}
