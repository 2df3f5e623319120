import Commerce
import GRDB

/// The version of a ledger in a SQLite file.
enum SQLiteSchema {
    /// The version of a ledger; 0 if there is none; nil if a newer version of Till wrote it.
    static func version(of database: Database) throws -> Int? {
        guard try database.tableExists("grdb_migrations") else { return 0 }
        let found = try Set(String.fetchAll(database, sql: "SELECT identifier FROM grdb_migrations"))
        return found.isSubset(of: LedgerSchema.versions) ? found.count : nil
    }

    /// Creates the missing tables of the features in use, and converts a ledger of an earlier version.
    ///
    /// - Returns: The reason why the ledger cannot be used; nil if it can.
    static func prepare(
        _ database: Database,
        _ schema: LedgerSchema,
        migrates: Bool
    ) throws -> StorageFault.Cause? {
        guard let version = try version(of: database) else { return .newerVersion }
        let isExtended = version == 0 || version >= LedgerSchema.earliestExtendedVersion
        let present = isExtended ? try tables(of: database) : []
        if version == LedgerSchema.version, schema.missing(from: present).isEmpty { return nil }
        guard version == 0 || version >= LedgerSchema.earliestVersion else { return .outdatedVersion }
        guard migrates else { return [0, LedgerSchema.version].contains(version) ? .missing : .olderVersion }
        if version == 0 {
            try database.execute(sql: "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        }
        let statements =
            isExtended
            ? [schema.completion(of: version, with: present, in: .sqlite)]
            : LedgerConversion(dialect: .sqlite, version: version, schema: schema).statements
        for statement in statements { try database.execute(sql: statement) }
        for name in LedgerSchema.versions.dropFirst(version) {
            try database.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES (?)", arguments: [name])
        }
        return nil
    }

    private static func tables(of database: Database) throws -> Set<String> {
        try String.fetchSet(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
    }
}
