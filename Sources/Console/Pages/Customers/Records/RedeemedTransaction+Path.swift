import Features
import Ledger
import Proofs

extension RedeemedTransaction {
    /// The address of the transaction's page.
    func path(of user: User, _ action: String? = nil, done notice: Notice? = nil) -> ConsolePath {
        let query: KeyValuePairs<String, String?> = ["origin": origin.rawValue, "app": app]
        guard let action else {
            return .customer(user, "transactions", transactionIdentifier, query: query, done: notice)
        }
        return .customer(user, "transactions", transactionIdentifier, action, query: query, done: notice)
    }

    /// True if an event is about the transaction.
    func isMeant(by event: AuditEntry) -> Bool {
        event.origin == origin && event.reference.hasSameBytes(as: transactionIdentifier)
            && event.subject.hasSameBytes(as: productIdentifier)
    }
}
