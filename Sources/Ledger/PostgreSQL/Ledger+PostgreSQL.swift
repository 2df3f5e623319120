import Commerce
import Signatures

extension Ledger {
    /// Connects to a PostgreSQL database, which several services may share, and makes the tables if there are none.
    ///
    /// - Parameters:
    ///   - features: All features there are; the tables of those in use are made.
    ///   - takesOver: Whether tables are made, and those of an earlier version become those of this.
    /// - Throws: `StorageFault`.
    package init(
        _ address: PostgreSQLAddress,
        features: [LedgerFeature],
        randomness: Randomness = .system,
        takesOver: Bool = true
    ) throws(StorageFault) {
        self.init(
            storage: try PostgreSQLStorage(address, features: features, randomness: randomness, takesOver: takesOver),
            randomness: randomness)
    }

    /// Checks that every rule of the ledger holds, as of one moment; others may go on writing. Whether the database's own files
    /// are whole is PostgreSQL's to tell (`pg_amcheck`).
    public func check() throws -> LedgerReport {
        try storage.read { database in
            var rows: [String: Int] = [:]
            for table in try database.describedTables() {
                rows[table.name] = try database.value("SELECT count(*) FROM \(table.quotedName)", []) ?? 0
            }
            return LedgerReport(
                rows: rows, isOfThisVersion: true, problems: try LedgerRules(database: database).problems())
        }
    }
}
