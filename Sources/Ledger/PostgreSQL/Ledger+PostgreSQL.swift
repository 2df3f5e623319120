import Commerce
import Signatures

extension Ledger {
    /// Connects to a PostgreSQL database, which several services may share, and makes the tables if there are none.
    ///
    /// - Parameter takesOver: Whether tables are made, and those of an earlier version become those of this.
    /// - Throws: `StorageFault`.
    public init(
        _ address: PostgreSQLAddress,
        randomness: Randomness = .system,
        takesOver: Bool = true
    ) throws(StorageFault) {
        self.init(
            storage: try PostgreSQLStorage(address, randomness: randomness, takesOver: takesOver),
            randomness: randomness)
    }

    /// Checks that every rule of the ledger holds, as of one moment; others may go on writing. Whether the database's own files
    /// are whole is PostgreSQL's to tell (`pg_amcheck`).
    public func check() throws -> LedgerReport {
        try storage.read { database in
            func count(_ table: String) throws -> Int {
                try database.value("SELECT count(*) FROM \(table)", []) ?? 0
            }
            return LedgerReport(
                users: try count(#""user""#), redeemedTransactions: try count("redeemed_transaction"),
                grants: try count("team_grant"), notifications: try count("notification"), isOfThisVersion: true,
                problems: try LedgerRules(database: database).problems())
        }
    }
}
