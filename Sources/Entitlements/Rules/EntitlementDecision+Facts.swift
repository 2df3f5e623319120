import Receipts

/// The rules of facts that decide nothing: what was paid, where, and how a subscription renews.
extension EntitlementDecision {
    /// Writes the facts that a claim states about a redeemed transaction and its subscription, as far as they are new.
    mutating func write(factsOf claim: Claim) {
        if let stated = claim.facts, let transaction = facts.transactions[claim.key] {
            let known = transaction.stated ?? TransactionFacts()
            let complete = known.completed(by: stated)
            if complete != known { make(.facts(claim.key, complete)) }
        }
        write(renewalOf: claim)
    }

    /// Writes what a claim states about the renewal of a redeemed subscription, unless something was stated later.
    mutating func write(renewalOf claim: Claim) {
        guard let renewal = claim.renewal, let original = facts.transactions[claim.key]?.originalKey,
            renewal.isLater(than: facts.purchases[original]?.renewal)
        else { return }
        make(.renewal(original, renewal))
    }
}
