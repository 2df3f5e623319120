import Commerce

extension DatabaseLedger: EventLedger {
    public func number(of user: User) throws(StorageFault) -> Int64? {
        try storage.read { try users($0).known(user) }
    }

    public func number(of user: User, at moment: Timestamp) throws(LedgerError) -> Int64 {
        try write(for: user, at: moment) { _, number in number }
    }

    public func position(ofUser number: Int64) throws(StorageFault) -> EventPosition {
        try storage.read { try EventRecords(database: $0).position(of: number) }
    }

    public func events(
        ofUser number: Int64,
        after position: EventPosition,
        limit: Int
    ) throws(StorageFault) -> EventAnswer {
        try storage.read { try EventRecords(database: $0).events(of: number, after: position, limit: limit) }
    }

    public func observe(_ observer: @escaping @Sendable (Set<Int64>) -> Void) {
        storage.observe(observer)
    }
}
