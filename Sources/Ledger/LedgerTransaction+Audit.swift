import Commerce

extension LedgerTransaction {
    /// What has happened to what a user owns, from the first on.
    ///
    /// - Parameters:
    ///   - number: Only what came after the record of this number; 0 for all.
    ///   - limit: At most so many.
    public func audit(
        of user: User,
        after number: Int64,
        limit: Int
    ) throws -> [AuditRecord] {
        guard let user = try users.known(user) else { return [] }
        return try audit.records(of: user, after: number, limit: limit)
    }
}
