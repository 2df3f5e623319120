import Commerce
import GRDB

/// The version of a ledger in a SQLite file.
enum SQLiteSchema {
    /// The names under which GRDB has recorded the versions.
    private static let names = [
        "1: redeemed transactions and their entitlements", "2: users with an account token, and keys of callers",
        "3: what the team gives and takes back", "4: what ends, and what is spent",
        "5: what the App Store asks, and was asked", "6: purchases that move", "7: what happened to what users own",
        "8: what the team does, numbered for each user and purchase", "9: accounts and sessions",
        "10: profiles and wishes", "11: members of the seed's own app",
        "12: changes for who listens, and whom answers are about", "13: webhooks", "14: the catalog beside its files",
        "15: requests of spendings, and names of any spelling",
        "16: global keys, and the data of users", "17: facts that the App Store states",
        "18: several apps", "19: what the console shows", "20: bounds for strangers",
    ]

    /// The version of a ledger; 0 if there is none; nil if a newer version of Till wrote it.
    static func version(of database: Database) throws -> Int? {
        guard try database.tableExists("grdb_migrations") else { return 0 }
        let found = try Set(String.fetchAll(database, sql: "SELECT identifier FROM grdb_migrations"))
        return found.isSubset(of: names) ? found.count : nil
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
        for name in names.dropFirst(version) {
            try database.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES (?)", arguments: [name])
        }
        return nil
    }

    private static func tables(of database: Database) throws -> Set<String> {
        try String.fetchSet(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
    }
}
