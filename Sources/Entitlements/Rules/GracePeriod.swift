import Proofs

/// The last statement of the App Store about a subscription's grace period.
package struct GracePeriod: Hashable, Sendable {
    /// Nil if there is no grace period.
    package let endsAt: Timestamp?
    package let order: StatementOrder
    /// True for the statement that a grace period is over, which says nothing of its date.
    var isOver = false

    /// This statement after another one. The end of a grace period moves it forwards, never back.
    func following(_ other: GracePeriod?) -> GracePeriod? {
        guard isOver else { return self }
        guard let end = other?.endsAt, let limit = endsAt else { return other }
        return GracePeriod(endsAt: min(end, limit), order: order)
    }

    /// One statement for two about a parked transaction: the later one. That a grace period is over ends the one that was stated before, and
    /// is no end of its own.
    static func joining(_ one: GracePeriod?, _ other: GracePeriod?) -> GracePeriod? {
        guard let one, let other else { return one ?? other }
        let (last, first) = one.isLater(than: other) ? (one, other) : (other, one)
        return first.isOver || first.endsAt == nil ? last : last.following(first)
    }

    /// True if this statement supersedes another. The later one does. Of two signed in the same millisecond, the one that ends
    /// later does.
    func isLater(than other: GracePeriod?) -> Bool {
        guard let other else { return true }
        if order != other.order { return order > other.order }
        return (endsAt?.millisecondsSince1970 ?? 0) > (other.endsAt?.millisecondsSince1970 ?? 0)
    }
}

extension GracePeriod {
    /// Nil for a claim without a statement about a grace period.
    package init?(_ claim: Claim) {
        guard let grace = claim.grace else { return nil }
        self.init(endsAt: grace.endsAt, order: grace.order ?? claim.order, isOver: grace.isOver)
    }
}

/// The rule of statements about a grace period.
extension EntitlementDecision {
    /// Writes a claim's statement about a grace period, unless a later one is known.
    ///
    /// - Returns: True if the end of the grace period has changed.
    mutating func write(grace claim: Claim) -> Bool {
        guard let transaction = facts.transactions[claim.key], let grace = GracePeriod(claim),
            grace.isLater(than: transaction.grace)
        else { return false }
        let following = grace.following(transaction.grace)
        guard following != transaction.grace else { return false }
        change(claim.key) { $0.grace = following }
        changes.stated.insert(transaction.originalKey)
        return transaction.grace?.endsAt != following?.endsAt
    }
}
