import Commerce

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
    func namedOwner(by claim: Claim, _ siblings: [Claim], of original: TransactionKey?) -> NamedOwner? {
        var last = namedOwner(by: claim)
        func consider(_ candidate: Claim?) {
            guard let candidate, let named = namedOwner(by: candidate) else { return }
            if last.map({ $0.naming < named.naming }) ?? true { last = named }
        }
        if claim.appAccountToken == nil { consider(parked[claim.key]?.claim) }
        for sibling in siblings { consider(sibling) }
        guard let last, let original, let purchase = purchases[original] else { return last }
        if let naming = purchase.naming, last.naming < naming { return nil }
        return last.user != purchase.owner && addsToBalance(original) ? nil : last
    }

    private func namedOwner(by claim: Claim) -> NamedOwner? {
        guard let token = claim.appAccountToken, !token.isPlaceholder, let user = tokenOwners[token] else { return nil }
        return NamedOwner(user: user, naming: Naming(claim))
    }
}
