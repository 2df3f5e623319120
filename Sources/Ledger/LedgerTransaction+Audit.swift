import Proofs

extension LedgerTransaction {
    /// The records of a user's audit log, oldest first.
    ///
    /// - Parameters:
    ///   - number: The number of the record before the first one to return; 0 for all records.
    ///   - limit: The largest number of records to return.
    package func audit(of user: User, after number: Int64, limit: Int) throws -> [AuditRecord] {
        guard let user = try users.known(user) else { return [] }
        return try audit.records(of: user, after: number, limit: limit)
    }

    /// The whole audit log of a user, with the logs of the users who were merged into the user, in the order of time.
    package func auditWithMerged(of user: User) throws -> [AuditRecord] {
        guard let user = try users.known(user) else { return [] }
        return try (users.formers(of: user) + [user]).flatMap { try audit.records(of: $0, after: 0, limit: .max) }
            .enumerated().sorted { ($0.element.entry.happenedAt, $0.offset) < ($1.element.entry.happenedAt, $1.offset) }
            .map(\.element)
    }
}
