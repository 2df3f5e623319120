import Commerce

/// What happens to users, for whoever listens; each call as those of `Ledger` are.
public protocol EventLedger: Ledger {
    /// The number by which the ledger knows a user; nil for one it has not seen.
    func number(of user: User) throws(StorageFault) -> Int64?

    /// The same, given at first sight.
    func number(of user: User, at moment: Timestamp) throws(LedgerError) -> Int64

    /// Where a listener is who knows everything that has happened to a user.
    func position(ofUser number: Int64) throws(StorageFault) -> EventPosition

    /// What has happened to a user, in its order.
    ///
    /// - Parameter limit: At most so many of the audit log's, and so many changes.
    func events(
        ofUser number: Int64,
        after position: EventPosition,
        limit: Int
    ) throws(StorageFault) -> EventAnswer

    /// Has somebody told, after each commit of this object, which users something has happened to. What others commit, another
    /// process say, nobody may be told of; in PostgreSQL, who observes tells the others that do.
    func observe(_ observer: @escaping @Sendable (Set<Int64>) -> Void)
}
