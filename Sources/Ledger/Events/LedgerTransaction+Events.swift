import Commerce

extension LedgerTransaction {
    /// The number by which the ledger knows a user; nil for one it has not seen.
    public func number(of user: User) throws -> Int64? {
        try users.known(user)
    }

    /// Where a listener is who knows everything that has happened to a user.
    public func position(ofUser number: Int64) throws -> EventPosition {
        try EventRecords(database: database).position(of: number)
    }

    /// What has happened to a user, in its order.
    ///
    /// - Parameter limit: At most so many of the audit log's, and so many changes.
    public func events(
        ofUser number: Int64,
        after position: EventPosition,
        limit: Int
    ) throws -> EventAnswer {
        try EventRecords(database: database).events(of: number, after: position, limit: limit)
    }
}
