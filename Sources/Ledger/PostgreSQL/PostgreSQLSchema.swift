import Commerce

/// The version of a ledger in a PostgreSQL database.
enum PostgreSQLSchema {
    /// The advisory lock of those who prepare a ledger.
    private static let lock: Int64 = 0x7469_6c6c

    /// Makes the tables of a new ledger, and takes over a ledger of an earlier version.
    ///
    /// - Returns: The cause for which there is no ledger of this version; nil if there is one.
    static func prepare(_ connection: PostgreSQLConnection, takesOver: Bool) throws -> StorageFault.Cause? {
        connection.runLater("BEGIN ISOLATION LEVEL READ COMMITTED")
        _ = try connection.query(SQLQuery("SELECT pg_advisory_xact_lock($1) IS NULL", [lock]))
        let found = try connection.query(
            SQLQuery("SELECT to_regclass('ledger_schema') IS NOT NULL AS is_there")
        ).rows.first
        var version = 0
        if try found?["is_there"] == true {
            let newest = try connection.query(
                SQLQuery("SELECT max(version) AS version FROM ledger_schema")
            ).rows.first
            version = try newest?["version"] ?? 0
        }
        if takesOver, let script = script(from: version) {
            try connection.script(script)
            try connection.queryLater(
                SQLQuery("INSERT INTO ledger_schema (version) VALUES ($1)", [LedgerSchema.version]))
            version = LedgerSchema.version
        }
        try connection.commit()
        switch version {
        case LedgerSchema.version: return nil
        case 0: return .missing
        case ..<LedgerSchema.earliestVersion: return .outdatedVersion
        case ..<LedgerSchema.version: return .olderVersion
        default: return .newerVersion
        }
    }

    /// The statements that lead from a version to this one; nil if there are none.
    private static func script(from version: Int) -> String? {
        switch version {
        case 0: ownTables + LedgerSchema.definition(in: .postgreSQL)
        case LedgerSchema.earliestVersion..<LedgerSchema.version:
            LedgerConversion(dialect: .postgreSQL, version: version).statements.joined(separator: ";\n")
        default: nil
        }
    }

    /// The tables that a ledger has in PostgreSQL alone: its version, and the tokens of its commits.
    private static let ownTables = """
        CREATE TABLE ledger_schema (version BIGINT PRIMARY KEY);

        CREATE TABLE ledger_commit (
            token BYTEA PRIMARY KEY,
            is_committed SMALLINT NOT NULL,
            committed_at TIMESTAMPTZ NOT NULL DEFAULT now()
        );


        """
}
