import Commerce
import Foundation

/// Moving a whole ledger, to another machine or another database.
extension DatabaseLedger {
    private static var rowsTogether: Int { 1000 }

    /// Writes everything there is as of one moment as JSON Lines, while others go on writing.
    ///
    /// - Parameter output: Takes whole lines.
    /// - Returns: How many rows there were.
    /// - Throws: `StorageFault`, and what `output` throws.
    public func export(to output: (Data) throws(BackupError) -> Void) throws -> Int {
        var refusal: BackupError?
        do {
            return try storage.read { database in
                var export = LedgerExport()
                var rows = 0
                func write(_ lines: [ExportLine]) throws {
                    let text = try export.text(of: lines)
                    do throws(BackupError) { try output(text) } catch {
                        // The storage would take it for a fault of its own.
                        refusal = error
                        throw error
                    }
                }
                try write([ExportLine(version: LedgerSchema.version)])
                for table in LedgerTable.all {
                    var last: SQLRow?
                    while case let page = try Self.page(of: table, after: last, in: database), !page.isEmpty {
                        try write(page.map { ExportLine(table, $0) })
                        (last, rows) = (page.last, rows + page.count)
                    }
                }
                try write([ExportLine(rows: rows, sha256: export.digest)])
                return rows
            }
        } catch {
            throw refusal ?? error
        }
    }

    private static func page(
        of table: LedgerTable,
        after last: SQLRow?,
        in database: any LedgerDatabase
    ) throws -> [SQLRow] {
        let (columns, key) = (table.columns.map(\.name).joined(separator: ", "), table.key.joined(separator: ", "))
        var (condition, arguments): (String, [any SQLConvertible]) = ("", [])
        if let last {
            arguments = try table.key.map { name -> SQLValue in try last[name] }
            let places = (1...table.key.count).map { "$\($0)" }.joined(separator: ", ")
            condition = "WHERE (\(key)) > (\(places))"
        }
        return try database.rows(
            "SELECT \(columns) FROM \(table.quotedName) \(condition) ORDER BY \(key) LIMIT \(rowsTogether)", arguments)
    }

    /// Takes in what `export` has written, into a ledger with nothing in it: all, or nothing.
    ///
    /// - Parameter input: The next bytes; nil when there are no more.
    /// - Returns: How many rows there were.
    /// - Throws: `ImportError`, `StorageFault`.
    public func importLines(from input: () throws(ImportError) -> Data?) throws -> Int {
        var refusal: ImportError?
        do {
            return try storage.write { database in
                do {
                    return try Self.importLines(from: input, into: database)
                } catch let error as ImportError {
                    refusal = error
                    throw error
                }
            }
        } catch {
            throw refusal ?? error
        }
    }

    private static func importLines(
        from input: () throws(ImportError) -> Data?,
        into database: any LedgerDatabase
    ) throws -> Int {
        for table in LedgerTable.all {
            let isEmpty = try database.rows("SELECT 1 FROM \(table.quotedName) LIMIT 1").isEmpty
            guard isEmpty else { throw ImportError.notEmpty }
        }
        var reader = LedgerImport(database: database)
        while let bytes = try input() { try reader.take(bytes) }
        let rows = try reader.end()
        let problems = try LedgerRules(database: database).problems()
        guard problems.isEmpty else { throw ImportError.unsound(problems) }
        return rows
    }
}
