import Commerce

extension Ledger {
    /// What has happened to what a user owns, from the first on.
    ///
    /// - Parameters:
    ///   - number: Only what came after the record of this number; 0 for all.
    ///   - limit: At most so many.
    public func audit(
        of user: User,
        after number: Int64,
        limit: Int
    ) throws(StorageFault) -> [AuditRecord] {
        try storage.read { database in
            guard let user = try users(database).known(user) else { return [] }
            return try audit(database).records(of: user, after: number, limit: limit)
        }
    }

    package func audit(_ database: any LedgerDatabase) -> AuditRecords {
        AuditRecords(database: database, randomness: randomness)
    }
}
