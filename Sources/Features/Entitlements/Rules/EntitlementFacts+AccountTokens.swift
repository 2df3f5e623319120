import Proofs

/// The rules of account tokens.
extension EntitlementFacts {
    /// The user of an account token, and the transaction with the token.
    struct NamedOwner: Hashable, Sendable {
        let user: Int64
        let naming: Naming
    }

    /// The owner by the account tokens of a claim and of the claims parked with it.
    ///
    /// A receipt has no account token. A parked statement about its transaction may have one.
    ///
    /// - Parameter original: The original transaction of the purchase, if somebody owns it.
    /// - Returns: Nil if no user of this service has the token. Nil also if the token of a later purchase has determined the
    ///   owner, or if the purchase has added to another user's balance, which may be spent.
    mutating func namedOwner(
        by claim: Claim,
        _ siblings: ParkedSiblings,
        of original: TransactionKey?
    ) -> NamedOwner? {
        let said = claim.appAccountToken == nil ? parked[claim.key]?.claim : nil
        let last = [namedOwner(by: claim), said.flatMap { namedOwner(by: $0) }, siblings.lastNaming]
            .compactMap(\.self).max { $0.naming < $1.naming }
        guard let last, let original, let purchase = purchases[original] else { return last }
        if let naming = purchase.naming, last.naming < naming { return nil }
        return last.user != purchase.owner && summary(of: original).addsToBalance ? nil : last
    }

    func namedOwner(by claim: Claim) -> NamedOwner? {
        guard let token = claim.appAccountToken, !token.isPlaceholder, let user = tokenOwners[token] else { return nil }
        return NamedOwner(user: user, naming: Naming(claim))
    }
}
