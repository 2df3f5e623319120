import Commerce

extension LedgerTransaction {
    /// The records of a user's audit log, oldest first.
    ///
    /// - Parameters:
    ///   - number: The number of the record before the first one to return; 0 for all records.
    ///   - limit: The largest number of records to return.
    public func audit(
        of user: User,
        after number: Int64,
        limit: Int
    ) throws -> [AuditRecord] {
        guard let user = try users.known(user) else { return [] }
        return try audit.records(of: user, after: number, limit: limit)
    }
}
