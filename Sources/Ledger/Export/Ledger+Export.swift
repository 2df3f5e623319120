import Foundation
import Proofs

extension Ledger {
    /// Writes a snapshot of the ledger as JSON Lines. Other processes may write meanwhile.
    ///
    /// - Parameter output: Receives whole lines.
    /// - Returns: The number of rows.
    /// - Throws: `StorageFault`; the errors of `output`.
    package func export(to output: (Data) throws(BackupError) -> Void) throws -> Int {
        var isBegun = false
        return try storage.read { database in
            // A retry cannot undo the lines already written.
            guard !isBegun else { throw BackupError.interrupted }
            isBegun = true
            var export = LedgerExport()
            var rows = 0
            func write(_ lines: [ExportLine]) throws { try output(try export.text(of: lines)) }
            try write([ExportLine(version: database.tables.schema.version)])
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

    /// Imports the lines of `export` into an empty ledger: all of them, or none.
    ///
    /// - Parameter input: Returns the next bytes, or nil at the end.
    /// - Returns: The number of rows.
    /// - Throws: `ImportError`, `StorageFault`.
    package func importLines(from input: () throws(ImportError) -> Data?) throws -> Int {
        var isBegun = false
        return try storage.write { database in
            // A retry cannot read the same bytes again.
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
        while let bytes = try input() { try reader.append(bytes) }
        let rows = try reader.end()
        let problems = try LedgerRules(database: database).problems()
        guard problems.isEmpty else { throw ImportError.inconsistent(problems) }
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
