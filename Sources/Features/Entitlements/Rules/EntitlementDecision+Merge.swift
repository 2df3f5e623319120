import Ledger
import Proofs

/// The rule of merges.
extension EntitlementDecision {
    /// Gives all purchases of an anonymous customer to the customer who has logged in. It is no transfer to somebody else: the
    /// ownership policy, the pause between two transfers and spent credits do not hinder it.
    ///
    /// - Parameters:
    ///   - former: The number of the anonymous customer. The facts have all its purchases.
    ///   - identifier: The anonymous id, for the audit log.
    package mutating func merge(_ former: Int64, into user: Int64, identifier: String, by actor: AuditActor) {
        let purchases = facts.purchases.filter { $0.value.owner == former }.keys.sorted()
        for original in purchases {
            let product = facts.transactions(of: original).last?.transaction.productIdentifier ?? ""
            make(.merge(original, from: former, to: user))
            audit(.transferredOut, original, product, by: actor, to: former)
            audit(.transferredIn, original, product, by: actor, to: user, reason: identifier)
        }
        make(.mergedTokens(from: former, to: user))
    }
}
