import Ledger
import Proofs

/// The rules of ownership and transfers.
extension EntitlementDecision {
    /// The reason to refuse a claim to a user; nil if the user may have it.
    mutating func refusal(
        of claim: Claim,
        _ original: TransactionKey?,
        _ named: EntitlementFacts.NamedOwner?,
        to user: Int64
    ) -> Redemption.Result? {
        guard !facts.hasOtherProduct(than: claim) else { return .transactionConflict }
        guard claim.isKnown else { return .productUnknown }
        if let named { return named.user == user ? nil : .appAccountTokenMismatch }
        guard let original, let purchase = facts.purchases[original], purchase.owner != user else { return nil }
        guard purchase.naming == nil else { return .appAccountTokenMismatch }
        // The credit may be spent already.
        guard !facts.summary(of: original).addsToBalance else { return .ownedByAnotherUser }
        let isActive = isActive(original, with: claim)
        return policy.refusal(
            isActive: isActive, transferredAt: purchase.transferredAt, at: moment)
    }

    /// Transfers a purchase to the user with a claim to it, unless the user owns it.
    ///
    /// - Parameter naming: The transaction whose account token names the user; nil if none does.
    /// - Returns: True if it was transferred.
    mutating func give(
        _ original: TransactionKey?,
        to user: Int64,
        by naming: Naming?,
        _ claim: Claim,
        _ actor: AuditActor
    ) -> Bool {
        guard let original, let purchase = facts.purchases[original] else { return false }
        if let naming, purchase.naming.map({ $0 < naming }) ?? true { make(.naming(original, naming)) }
        guard purchase.owner != user else { return false }
        make(.transfer(original, from: purchase.owner, to: user))
        audit(.transferredOut, original, claim.productIdentifier, by: actor, to: purchase.owner)
        audit(.transferredIn, original, claim.productIdentifier, by: actor, to: user)
        return true
    }

    /// True if a part of a purchase is active, or a claim continues it without a gap. The App Store may state a renewal only
    /// after the previous period has ended.
    private mutating func isActive(_ original: TransactionKey, with claim: Claim) -> Bool {
        guard !facts.revokedByTeam.contains(original) else { return false }
        let summary = facts.summary(of: original)
        if summary.isEndless { return true }
        guard let end = summary.end else { return false }
        if end > moment { return true }
        guard let renewedUntil = claim.expiresAt, claim.revocationDate == nil else { return false }
        // The clocks of the App Store's servers differ.
        return renewedUntil > moment && claim.purchaseDate <= end.adding(seconds: 3600)
    }
}

extension EntitlementFacts {
    /// True if a purchase has added to a balance.
    package func addsToBalance(_ original: TransactionKey) -> Bool {
        transactions(of: original).contains { $0.transaction.addsToBalance }
    }
}
