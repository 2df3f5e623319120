import Commerce
import Ledger

/// The rules of ownership and transfers.
extension EntitlementDecision {
    /// The reason to give a user nothing for a claim; nil if the user may have it.
    func refusal(
        of claim: Claim,
        _ original: TransactionKey?,
        _ named: EntitlementFacts.NamedOwner?,
        to user: Int64
    ) -> Redemption.Result? {
        guard claim.isKnown else { return .productUnknown }
        if let named { return named.user == user ? nil : .appAccountTokenMismatch }
        guard let original, let purchase = facts.purchases[original], purchase.owner != user else { return nil }
        guard purchase.naming == nil else { return .appAccountTokenMismatch }
        // A credit may be spent already.
        guard !facts.addsToBalance(original) else { return .ownedByAnotherUser }
        return policy.refusal(
            isActive: isActive(original, with: claim), transferredAt: purchase.transferredAt, at: moment)
    }

    /// Transfers a purchase to the user with a claim to it, unless the user owns it.
    ///
    /// - Parameter naming: The transaction whose account token names the user; nil if none does.
    /// - Returns: Whether it was transferred.
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

    /// Whether something of a purchase counts, or would after a claim that goes on where the purchase ends: the App Store tells
    /// of a renewal when the period before has ended.
    private func isActive(_ original: TransactionKey, with claim: Claim) -> Bool {
        guard !facts.revokedByTeam.contains(original) else { return false }
        var end: Timestamp?
        for (_, transaction) in facts.transactions(of: original) where !transaction.standing.isRevoked {
            guard let expiresAt = transaction.standing.expiresAt else { return true }
            end = [end, expiresAt, transaction.grace?.endsAt].compactMap(\.self).max()
        }
        guard let end else { return false }
        if end > moment { return true }
        guard let renewedUntil = claim.expiresAt, claim.revocationDate == nil else { return false }
        // The clocks of a store's machines are not one.
        return renewedUntil > moment && claim.purchaseDate <= end.adding(seconds: 3600)
    }
}

extension EntitlementFacts {
    /// Whether a purchase has added to a balance.
    package func addsToBalance(_ original: TransactionKey) -> Bool {
        transactions(of: original).contains { $0.transaction.addsToBalance }
    }
}
