import Ledger
import Proofs

/// The rules of restored purchases: all transactions with the same original and product are one purchase.
extension EntitlementDecision {
    /// Writes a statement to the other transactions that repeat the purchase of a claim, unless they have a later one.
    mutating func writeToRepeats(_ status: TransactionStatus, of claim: Claim, by actor: AuditActor) {
        guard claim.repeatsOriginal, let owner = facts.purchases[claim.originalKey]?.owner,
            facts.repeatedStatus(of: claim)?.isBehind(status) ?? false
        else { return }
        for (key, transaction) in facts.transactions(ofPurchaseRepeatedBy: claim) where key != claim.key {
            let before = transaction.status
            guard status.isLater(than: before) else { continue }
            write(status, of: claim, to: key)
            guard before.isRevoked != status.isRevoked else { continue }
            audit(status.isRevoked ? .revoked : .granted, key, claim.productIdentifier, by: actor, to: owner)
        }
        facts.setRepeated(status, of: claim)
    }
}

extension EntitlementFacts {
    func transactions(
        ofPurchaseRepeatedBy claim: Claim
    ) -> [(key: TransactionKey, transaction: Transaction)] {
        let product = ByteKey(claim.productIdentifier)
        return transactions(of: claim.originalKey).filter { ByteKey($0.transaction.productIdentifier) == product }
    }

    /// The last statement about the purchase that a claim repeats: about another of its transactions, or parked for the
    /// original.
    ///
    /// - Returns: Nil if each transaction is a purchase of its own.
    mutating func lastStatus(ofPurchaseRepeatedBy claim: Claim) -> TransactionStatus? {
        guard claim.repeatsOriginal else { return nil }
        let said = [repeatedStatus(of: claim)?.last, parked[claim.originalKey]?.status].compactMap(\.self)
        return said.reduce(nil) { last, next in last.map { next.isLater(than: $0) } ?? true ? next : last }
    }
}
