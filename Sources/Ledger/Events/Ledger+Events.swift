import Commerce

extension Ledger {
    /// The number by which the ledger knows a user; nil for one it has not seen.
    public func number(of user: User) throws(StorageFault) -> Int64? {
        try storage.read { try users($0).known(user) }
    }

    /// The same, given at first sight.
    public func number(of user: User, at moment: Timestamp) throws(LedgerError) -> Int64 {
        try write(for: user, at: moment) { _, number in number }
    }

    /// Where a listener is who knows everything that has happened to a user.
    public func position(ofUser number: Int64) throws(StorageFault) -> EventPosition {
        try storage.read { try EventRecords(database: $0).position(of: number) }
    }

    /// What has happened to a user, in its order.
    ///
    /// - Parameter limit: At most so many of the audit log's, and so many changes.
    public func events(
        ofUser number: Int64,
        after position: EventPosition,
        limit: Int
    ) throws(StorageFault) -> EventAnswer {
        try storage.read { try EventRecords(database: $0).events(of: number, after: position, limit: limit) }
    }

    /// Has somebody told, after each commit of this object, which users something has happened to. What others commit, another
    /// process say, nobody may be told of; in PostgreSQL, who observes tells the others that do.
    public func observe(_ observer: @escaping @Sendable (Set<Int64>) -> Void) {
        storage.observe(observer)
    }
}
