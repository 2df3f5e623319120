import Proofs

/// The actions on payments, by their names.
extension Store {
    package func approve(_ identifier: Int64) throws(StoreError) -> QueuedTransaction {
        try perform(.approve, on: identifier)
    }

    package func decline(_ identifier: Int64) throws(StoreError) -> QueuedTransaction {
        try perform(.decline, on: identifier)
    }

    package func resolveIssue(_ identifier: Int64) throws(StoreError) -> QueuedTransaction {
        try perform(.resolve, on: identifier)
    }

    package func finish(_ identifier: Int64, account: String) throws(StoreError) -> PaymentTransaction {
        try perform(.finish, on: identifier, account: account).transaction
    }

    package func transaction(_ identifier: Int64, account: String) throws(StoreError) -> PaymentTransaction {
        try queuedTransaction(identifier, account: account).transaction
    }

    package func isInterrupted(_ identifier: Int64) throws(StoreError) -> Bool {
        try queuedTransaction(identifier).isInterrupted
    }
}
