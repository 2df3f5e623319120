import Proofs

extension LedgerTransaction {
    /// The number of a user; nil for a user that the ledger does not know.
    package func number(of user: User) throws -> Int64? {
        try users.known(user)
    }

    /// The position after the last event of a user.
    package func position(ofUser number: Int64) throws -> EventPosition {
        try EventRecords(database: database).position(of: number)
    }

    /// The events of a user after a position, in order.
    ///
    /// - Parameter limit: The largest number of audit records, and the largest number of changes.
    package func events(ofUser number: Int64, after position: EventPosition, limit: Int) throws -> EventAnswer {
        try EventRecords(database: database).events(of: number, after: position, limit: limit)
    }
}
