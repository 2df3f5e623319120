import Commerce

/// The time in which a user owns what a transaction has bought.
package struct Coverage: Hashable, Sendable {
    /// Nil for what has no beginning, since it has no end.
    package let beginsAt: Timestamp?
    /// Nil for a purchase that lasts.
    package let endsAt: Timestamp?
    /// Whether the App Store or the team has taken the purchase back.
    package let isRevoked: Bool

    /// The clocks of the App Store may be ahead by as much as a proof's date.
    static let clockToleranceSeconds: Int64 = 60
}

extension EntitlementFacts {
    /// The coverage of each transaction of a purchase.
    ///
    /// A period of a subscription counts from its purchase until its end, or the end of the grace period, or until the next
    /// period takes its place, which is the first one that was purchased later.
    package func coverage(of original: TransactionKey) -> [TransactionKey: Coverage] {
        let transactions = transactions(of: original)
        let isRevokedByTeam = revokedByTeam.contains(original)
        let purchaseDates = Set(transactions.map(\.transaction.purchaseDate)).sorted()
        let next = Dictionary(uniqueKeysWithValues: zip(purchaseDates, purchaseDates.dropFirst()))
        var coverage: [TransactionKey: Coverage] = [:]
        for (key, transaction) in transactions {
            let isRevoked = isRevokedByTeam || transaction.standing.isRevoked
            guard let expiresAt = transaction.standing.expiresAt else {
                coverage[key] = Coverage(beginsAt: nil, endsAt: nil, isRevoked: isRevoked)
                continue
            }
            let tolerance = -Coverage.clockToleranceSeconds
            let end = max(expiresAt, transaction.grace?.endsAt ?? expiresAt)
            let replacement = next[transaction.purchaseDate]?.adding(seconds: tolerance)
            coverage[key] = Coverage(
                beginsAt: transaction.purchaseDate.adding(seconds: tolerance), endsAt: min(end, replacement ?? end),
                isRevoked: isRevoked)
        }
        return coverage
    }
}
