import Commerce
import Foundation

extension Ledger {
    /// Writes everything there is as of one moment as JSON Lines, while others go on writing.
    ///
    /// - Parameter output: Takes whole lines.
    /// - Returns: How many rows there were.
    /// - Throws: `StorageFault`, and what `output` throws.
    public func export(to output: (Data) throws(BackupError) -> Void) throws -> Int {
        var isBegun = false
        return try storage.read { database in
            // What was written cannot be taken back.
            guard !isBegun else { throw BackupError.interrupted }
            isBegun = true
            var export = LedgerExport()
            var rows = 0
            func write(_ lines: [ExportLine]) throws { try output(try export.text(of: lines)) }
            try write([ExportLine(version: LedgerSchema.version)])
            for table in try database.describedTables() {
                try database.forEachPage(of: table.inOrder) { page in
                    try write(page.map { ExportLine(table, $0) })
                    rows += page.count
                }
            }
            try write([ExportLine(rows: rows, sha256: export.digest)])
            return rows
        }
    }

    /// Takes in what `export` has written, into a ledger with nothing in it: all, or nothing.
    ///
    /// - Parameter input: The next bytes; nil when there are no more.
    /// - Returns: How many rows there were.
    /// - Throws: `ImportError`, `StorageFault`.
    public func importLines(from input: () throws(ImportError) -> Data?) throws -> Int {
        var isBegun = false
        return try storage.write { database in
            // What was read cannot be read again.
            guard !isBegun else { throw ImportError.interrupted }
            isBegun = true
            return try Self.importLines(from: input, into: database, storage.dialect)
        }
    }

    private static func importLines(
        from input: () throws(ImportError) -> Data?,
        into database: any LedgerDatabase,
        _ dialect: SQLDialect
    ) throws -> Int {
        for table in try database.describedTables() {
            let isEmpty = try database.rows("SELECT 1 FROM \(table.quotedName) LIMIT 1").isEmpty
            guard isEmpty else { throw ImportError.notEmpty }
        }
        var reader = try LedgerImport(database: database, dialect: dialect)
        while let bytes = try input() { try reader.take(bytes) }
        let rows = try reader.end()
        let problems = try LedgerRules(database: database).problems()
        guard problems.isEmpty else { throw ImportError.unsound(problems) }
        return rows
    }
}

extension LedgerDatabase {
    /// The descriptions of the tables that the ledger has.
    func describedTables() throws -> [Table] {
        let present = try presentTables()
        return tables.schema.tables.filter { present.contains($0.name) }
    }
}
