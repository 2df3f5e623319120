import Foundation
import Proofs

/// A line of an exported ledger.
///
/// The first line has the version. Each further line is a row. The last line has the number of rows and the SHA-256 of all
/// lines before it, so that the import refuses a truncated or changed file.
struct ExportLine: Codable {
    /// The version of the ledger's tables, in the first line only.
    var version: Int?
    var table: String?
    /// The values by column, without nulls. Bytes are in base64.
    var row: [String: SQLValue]?
    /// The number of rows, in the last line only.
    var rows: Int?
    /// The digest in hexadecimal, in the last line only.
    var sha256: String?
}

extension ExportLine {
    /// - Parameter row: A row of `Table.inOrder`.
    init(_ table: Table, _ row: inout ResultRow) throws(ColumnMismatch) {
        var values: [String: SQLValue] = [:]
        for column in table.columns {
            let value = try row.nextValue()
            if value != .null { values[column.name] = value }
        }
        (self.table, self.row) = (table.name, values)
    }

    /// The values for the columns of a table, in order.
    ///
    /// - Returns: Nil if a value has another kind than its column, or a column is unknown.
    func values(of table: Table) -> [SQLValue]? {
        guard let row, row.keys.allSatisfy({ name in table.columns.contains { $0.name == name } }) else { return nil }
        var values: [SQLValue] = []
        for column in table.columns {
            switch (row[column.name], column.kind) {
            case (nil, _): values.append(.null)
            case (.integer(let number), .integer): values.append(.integer(number))
            case (.text(let text), .text): values.append(.text(text))
            case (.text(let text), .blob):
                guard let bytes = Data(base64Encoded: text) else { return nil }
                values.append(.blob([UInt8](bytes)))
            default: return nil
            }
        }
        return values
    }
}

/// The value of a column in an export. Bytes are read as their text in base64.
extension SQLValue: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            self = .integer(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .integer(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .blob(let bytes): try container.encode(Data(bytes).base64EncodedString())
        }
    }
}

extension Ledger {
    /// The number of bytes of lines that an export writes at once.
    private static let sizeOfOutput = 1 << 16

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
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            var hash = SHA256State()
            var (lines, rows) = (Data(), 0)
            func flush() throws {
                hash.update([UInt8](lines)[...])
                try output(lines)
                lines.removeAll(keepingCapacity: true)
            }
            func write(_ line: ExportLine) throws {
                lines.append(try encoder.encode(line))
                lines.append(UInt8(ascii: "\n"))
                if lines.count >= Self.sizeOfOutput { try flush() }
            }
            try write(ExportLine(version: database.tables.schema.version))
            for table in try database.describedTables() {
                try database.streamRows(of: table.inOrder) { row in
                    try write(ExportLine(table, &row))
                    rows += 1
                }
            }
            try flush()
            try write(ExportLine(rows: rows, sha256: hash.digest().hexadecimal))
            try flush()
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
            return try Self.importLines(from: input, into: database)
        }
    }

    private static func importLines(
        from input: () throws(ImportError) -> Data?, into database: any LedgerDatabase
    ) throws -> Int {
        for table in try database.describedTables() {
            guard try !database.hasRow("SELECT 1 FROM \(table.quotedName) LIMIT 1") else { throw ImportError.notEmpty }
        }
        var reader = try LedgerImport(database: database)
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
