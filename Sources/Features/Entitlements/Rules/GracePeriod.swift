import Proofs

/// The last statement of the App Store about a subscription's grace period.
package struct GracePeriod: Hashable, Sendable {
    /// Nil if there is no grace period.
    package let endsAt: Timestamp?
    package let statedAt: Timestamp

    package init(endsAt: Timestamp?, statedAt: Timestamp) {
        self.endsAt = endsAt
        self.statedAt = statedAt
    }

    /// Nil for a claim without a statement about a grace period.
    init?(_ claim: Claim) {
        guard let grace = claim.grace else { return nil }
        self.init(endsAt: grace.endsAt, statedAt: grace.statedAt ?? claim.signedAt)
    }

    /// True if this statement supersedes another. The one signed later does. Of two signed in the same millisecond, the one
    /// that ends later does.
    func isLater(than other: GracePeriod?) -> Bool {
        guard let other else { return true }
        if statedAt != other.statedAt { return statedAt > other.statedAt }
        return (endsAt?.millisecondsSince1970 ?? 0) > (other.endsAt?.millisecondsSince1970 ?? 0)
    }
}
