import Commerce

/// The last statement of the App Store about a subscription's grace period.
package struct GracePeriod: Hashable, Sendable {
    /// Nil where there is no grace period.
    package let endsAt: Timestamp?
    package let statedAt: Timestamp

    package init(endsAt: Timestamp?, statedAt: Timestamp) {
        self.endsAt = endsAt
        self.statedAt = statedAt
    }

    /// Nil for a claim that says nothing of a grace period.
    init?(_ claim: Claim) {
        guard let grace = claim.grace else { return nil }
        self.init(endsAt: grace.endsAt, statedAt: grace.statedAt ?? claim.signedAt)
    }

    /// Whether this statement counts instead of another: the one signed later does, and of two signed in the same millisecond
    /// the one that ends later.
    func isLater(than other: GracePeriod?) -> Bool {
        guard let other else { return true }
        if statedAt != other.statedAt { return statedAt > other.statedAt }
        return (endsAt?.millisecondsSince1970 ?? 0) > (other.endsAt?.millisecondsSince1970 ?? 0)
    }
}
