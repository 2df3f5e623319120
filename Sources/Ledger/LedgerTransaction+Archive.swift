import Commerce

extension LedgerTransaction {
    /// Everything there is of a user, as of one moment; nil for one the ledger has not seen.
    public func archive(
        of user: User,
        counting origins: Set<Origin>,
        at moment: Timestamp
    ) throws -> UserArchive? {
        let row = try database.row(
            #"SELECT user_id, first_seen_at, app_account_token FROM "user" WHERE issuer = $1 AND name = $2"#,
            [user.issuer, user.name])
        guard let row else { return nil }
        let user: Int64 = try row["user_id"]
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
