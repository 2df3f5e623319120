import Features
import Ledger
import Proofs

extension RedeemedTransaction {
    /// True if an event is about the transaction.
    func isMeant(by event: AuditEntry) -> Bool {
        event.origin == origin && event.reference.hasSameBytes(as: transactionIdentifier)
            && event.subject.hasSameBytes(as: productIdentifier)
    }
}
