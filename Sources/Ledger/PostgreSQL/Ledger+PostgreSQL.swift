import Proofs

extension Ledger {
    /// Connects to a PostgreSQL database, and creates the tables if they do not exist. Several services may share the database.
    ///
    /// - Parameters:
    ///   - features: All features. The ledger creates the tables of the features in use.
    ///   - migrates: True if the ledger may create tables and add columns.
    /// - Throws: `StorageFault`.
    package init(
        _ address: PostgreSQLAddress,
        features: [LedgerFeature],
        randomness: Randomness = .system,
        migrates: Bool = true
    ) throws(StorageFault) {
        self.init(
            storage: try PostgreSQLStorage(address, features: features, randomness: randomness, migrates: migrates),
            randomness: randomness)
    }

    /// Checks every rule of the ledger on a snapshot. Other processes may write meanwhile. `pg_amcheck` checks PostgreSQL's own
    /// files.
    package func check() throws -> LedgerReport {
        try storage.read { database in
            var rows: [String: Int] = [:]
            for table in try database.describedTables() {
                rows[table.name] = try database.value("SELECT count(*) FROM \(table.quotedName)", []) ?? 0
            }
            let differences =
                storage.dialect == .postgreSQL ? try PostgreSQLDefinitions(database: database).problems() : []
            return LedgerReport(
                rows: rows,
                // The rules read tables as the ledger defines them, and a failure would end the transaction.
                problems: differences.isEmpty ? try LedgerRules(database: database).problems() : differences)
        }
    }
}
