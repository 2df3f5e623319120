/// The database of a running ledger: its version and its size.
package struct LedgerState: Hashable, Sendable {
    /// The database and its version: "SQLite 3.46.1".
    package let database: String
    /// The version of the ledger's tables.
    package let version: Int
    /// The size of the database in bytes, without SQLite's write-ahead log.
    package let size: Int64
    /// The approximate number of users, without counting them; nil if the database has no estimate yet.
    package let users: Int64?
}

extension Ledger {
    /// The state of the database. No statement reads many rows.
    package func state() async throws -> LedgerState {
        let dialect = storage.dialect
        return try await read { try $0.state(of: dialect) }
    }

    /// The state of the database server; nil for a ledger in a file.
    package var serverReachability: ServerReachability? { storage.serverReachability }
}

extension LedgerTransaction {
    fileprivate func state(of dialect: SQLDialect) throws -> LedgerState {
        let (name, versionQuery, sizeQuery, usersQuery) =
            switch dialect {
            case .sqlite:
                (
                    "SQLite", "SELECT sqlite_version() AS version",
                    "SELECT page_count * page_size AS size FROM pragma_page_count(), pragma_page_size()",
                    // Numbers of users are consecutive, and users are not deleted.
                    "SELECT max(user_id) AS users FROM \"user\""
                )
            case .postgreSQL:
                (
                    "PostgreSQL", "SELECT current_setting('server_version') AS version",
                    "SELECT pg_database_size(current_database()) AS size",
                    // The planner's estimate; -1 before the first one.
                    "SELECT nullif(reltuples, -1)::bigint AS users FROM pg_class WHERE oid = to_regclass('\"user\"')"
                )
            }
        let version: String = try database.value(versionQuery, []) ?? ""
        // A distribution adds its name: "17.2 (Debian 17.2-1)".
        let number = version.prefix { $0 != " " }
        let users = try database.row(usersQuery, []).flatMap { row in try row["users"] as Int64? }
        return LedgerState(
            database: "\(name) \(number)", version: database.tables.schema.version,
            size: try database.value(sizeQuery, []) ?? 0, users: users)
    }
}
