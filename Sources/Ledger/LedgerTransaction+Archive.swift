import Commerce

extension LedgerTransaction {
    /// Everything there is of a user, as of one moment; nil for one the ledger has not seen.
    public func archive(
        of user: User,
        counting origins: Set<Origin>,
        at moment: Timestamp
    ) throws -> UserArchive? {
        guard let user = try users.known(user) else { return nil }
        let row = try database.row(
            #"SELECT first_seen_at, app_account_token FROM "user" WHERE user_id = $1"#, [user])
        guard let row else { throw damaged }
        let reading = ReadingRecords(database: database)
        return UserArchive(
            firstSeenAt: try row["first_seen_at"], appAccountToken: try row["app_account_token"],
            account: try AccountRecords(database: database).account(of: user),
            sessions: try AccountRecords(database: database).sessions(of: user),
            member: try MemberRecords(database: database).member(of: user),
            profile: try ProfileRecords(database: database).profile(of: user, counting: origins, at: moment),
            transactions: try reading.transactions(of: user, before: .max, limit: .max),
            grants: try TeamRecords(database: database).grants(of: user, before: .max, limit: .max),
            balances: try BalanceRecords(database: database).balances(of: user, counting: origins),
            audit: try audit.records(of: user, after: 0, limit: .max))
    }
}
