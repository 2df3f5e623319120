import Proofs

/// The rules of facts that no decision depends on: price, storefront and renewal.
extension EntitlementDecision {
    /// Writes the new facts that a claim states about a redeemed transaction and its subscription.
    mutating func write(factsOf claim: Claim) {
        if let stated = claim.facts, let transaction = facts.transactions[claim.key] {
            let known = transaction.stated ?? TransactionFacts()
            let complete = known.completed(by: stated)
            if complete != known { make(.facts(claim.key, complete)) }
        }
        write(renewalOf: claim)
    }

    /// Writes a claim's statement about the renewal of a redeemed subscription, unless a later one is known.
    mutating func write(renewalOf claim: Claim) {
        guard let renewal = claim.renewal, let original = facts.transactions[claim.key]?.originalKey,
            renewal.isLater(than: facts.purchases[original]?.renewal)
        else { return }
        make(.renewal(original, renewal))
    }
}
