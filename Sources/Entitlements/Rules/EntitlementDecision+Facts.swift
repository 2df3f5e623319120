import Receipts

/// The rules of facts that decide nothing: what was paid, where, and how a subscription renews.
extension EntitlementDecision {
    /// Writes the facts that a claim states about a redeemed transaction and its subscription, as far as they are new.
    mutating func write(factsOf claim: Claim) {
        guard let transaction = facts.transactions[claim.key] else { return }
        if let stated = claim.facts {
            let known = facts.stated[claim.key] ?? TransactionFacts()
            let complete = known.completed(by: stated)
            if complete != known { make(.facts(claim.key, complete)) }
        }
        if let renewal = claim.renewal, renewal.isLater(than: facts.renewals[transaction.originalKey]) {
            make(.renewal(transaction.originalKey, renewal))
        }
    }
}
