import Receipts

/// The rules of facts that several statements state of one transaction.
extension TransactionFacts {
    /// The facts that change: the signed transaction that was signed last states them all.
    private static let changing: [TransactionFact] = [
        .isUpgraded, .appAccountToken, .revocationType, .revocationPercentage, .commitmentInfo, .advancedCommerceInfo,
    ]

    /// The facts after a further statement, in whatever order the two come.
    ///
    /// The statement signed last wins, and the earlier one completes it. An app receipt completes signed transactions.
    package func completed(by other: TransactionFacts) -> TransactionFacts {
        if isEmpty || other.isEmpty { return isEmpty ? other : self }
        let (earlier, later) = other.isLater(than: self) ? (self, other) : (other, self)
        var facts = TransactionFacts(earlier.values.merging(later.values) { $1 })
        guard later[.signedDate] != nil else { return facts }
        for fact in Self.changing { facts[fact] = later[fact] }
        return facts
    }

    /// Of two signed in the same millisecond, the one that tells of an upgrade is later.
    private func isLater(than other: TransactionFacts) -> Bool {
        let (own, others) = (integer(.signedDate) ?? .min, other.integer(.signedDate) ?? .min)
        return own != others ? own > others : bool(.isUpgraded) ?? false || !(other.bool(.isUpgraded) ?? false)
    }
}

extension StatedRenewal {
    /// Whether this statement counts instead of another: the one signed later does.
    package func isLater(than other: StatedRenewal?) -> Bool {
        guard let other else { return true }
        if statedAt != other.statedAt { return statedAt > other.statedAt }
        return other.proofDigest.lexicographicallyPrecedes(proofDigest)
    }
}
