import Ledger
import Proofs

/// What must hold after each decision. It is checked before anything is written: a breach refuses the group.
///
/// The rules of a decision do not throw. One that finds what cannot be notes it (`EntitlementDecision.breach`), and the check throws it.
extension EntitlementDecision {
    /// - Parameter before: The facts before the decision.
    package func check(after before: EntitlementFacts) throws(BrokenInvariant) {
        if let breach { throw breach }
        try checkPurchases(after: before)
        try checkTransactions(after: before)
        for case .audit(let entry, let user) in changes.events {
            try hold(user > 0, "an event is one of a user", entry.reference)
        }
        for original in changes.changedRenewals {
            try hold(facts.purchases[original]?.renewal != nil, "a changed renewal is stated", original)
        }
        for original in changes.recordedStates {
            try hold(
                facts.recordedStates[original] != nil && facts.purchases[original] != nil,
                "a recorded state is one of a purchase", original)
        }
    }

    private func checkPurchases(after before: EntitlementFacts) throws(BrokenInvariant) {
        let (new, transferred) = (changes.newPurchases, Set(changes.transferred))
        for (original, purchase) in facts.purchases {
            let known = before.purchases[original]
            try hold((known == nil) == new.contains(original), "a purchase is new if nobody has owned it", original)
            guard known?.owner != purchase.owner else { continue }
            try hold(purchase.owner > 0, "an owner is a user", original)
            try hold(known == nil || transferred.contains(original), "an owner changes by a transfer", original)
        }
        for original in new.union(transferred).union(changes.named) {
            try hold(facts.purchases[original] != nil, "a changed purchase is known", original)
        }
    }

    private func checkTransactions(after before: EntitlementFacts) throws(BrokenInvariant) {
        var new: Set<TransactionKey> = []
        for claim in changes.newTransactions {
            try hold(
                before.transactions[claim.key] == nil && new.insert(claim.key).inserted,
                "a transaction is redeemed once", claim.key)
        }
        for key in new.union(changes.changedTransactions).union(changes.changedFacts) {
            guard let transaction = facts.transactions[key] else {
                throw BrokenInvariant("a changed transaction is known", key.identifier)
            }
            try hold(facts.purchases[transaction.originalKey] != nil, "a transaction has its purchase", key)
            try hold(
                new.contains(key) || before.transactions[key]?.sequence != nil, "a redeemed transaction has its row",
                key
            )
            let paidBack = transaction.stated?.integer(.refundedAmount)
            try hold(paidBack.map { $0 >= 0 } ?? true, "no store pays back less than nothing", key)
        }
    }

    private func hold(
        _ condition: Bool, _ rule: String, _ subject: @autoclosure () -> String
    ) throws(BrokenInvariant) {
        guard condition else { throw BrokenInvariant(rule, subject()) }
    }

    private func hold(_ condition: Bool, _ rule: String, _ key: TransactionKey) throws(BrokenInvariant) {
        try hold(condition, rule, key.identifier)
    }

    /// Notes what cannot be. The first breach counts.
    mutating func note(_ rule: String, _ key: TransactionKey) {
        breach = breach ?? BrokenInvariant(rule, key.identifier)
    }
}
