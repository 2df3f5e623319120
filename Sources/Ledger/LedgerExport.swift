import Foundation
import Proofs
import Vocabulary

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
            let value: SQLValue =
                if column.kind == .origin {
                    (try row.next() as Origin?)?.rawValue.sqlValue ?? .null
                } else if let words = column.words {
                    (try row.next() as String?).map { .text(words.stated($0)) } ?? .null
                } else if column.kind == .packed {
                    (try row.next() as String?).map { .text($0) } ?? .null
                } else {
                    try row.nextValue()
                }
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
            case (.integer(let number), .integer), (.integer(let number), .small): values.append(.integer(number))
            case (.text(let text), .text): values.append(.text(column.words?.stored(text) ?? text))
            case (.text(let text), .packed): values.append(.packed(text))
            case (.text(let text), .origin):
                guard let origin = Origin(rawValue: text) else { return nil }
                values.append(origin.sqlValue)
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
        case .text(let text), .packed(let text): try container.encode(text)
        case .blob(let bytes): try container.encode(Data(bytes).base64EncodedString())
        case .list:
            throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: "A list."))
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
        for table in try database.describedTables() { try database.takeStatistics(of: table) }
        let problems = try LedgerRules(database: database).problems()
        guard problems.isEmpty else { throw ImportError.inconsistent(problems) }
        return rows
    }
}

extension LedgerDatabase {
    func describedTables() throws -> [Table] {
        let present = try presentTables()
        return tables.schema.tables.filter { present.contains($0.name) }
    }
}

/// The reader of the lines of an export, which writes them into the ledger.
struct LedgerImport {
    /// The largest number of bytes of a line. A kept answer is the longest row.
    private static let maximumLength = 8 << 20

    let database: any LedgerDatabase
    /// The bytes after the last whole line.
    private var rest = Data()
    private var hash = SHA256State()
    private let decoder = JSONDecoder()
    /// The names of the existing tables.
    private var present: Set<String>
    private var lines = 0
    private var rows = 0
    private var isComplete = false

    init(database: any LedgerDatabase) throws {
        self.database = database
        present = try database.presentTables()
    }

    mutating func append(_ bytes: Data) throws {
        rest.append(bytes)
        var start = rest.startIndex
        while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
            try append(line: rest[start..<end])
            start = rest.index(after: end)
        }
        rest = Data(rest[start...])
        guard rest.count <= Self.maximumLength else { throw ImportError.lineInvalid(lines + 1) }
    }

    /// Checks that the export is complete.
    ///
    /// - Returns: The number of rows.
    func end() throws -> Int {
        guard isComplete, rest.isEmpty else { throw ImportError.incomplete }
        return rows
    }

    /// Creates all tables of the feature that has a table: a ledger has all tables of a feature, or none.
    private mutating func makeTables(beside table: Table) throws {
        guard !present.contains(table.name) else { return }
        let feature = database.tables.schema.features.first { $0.tables.contains { $0.name == table.name } }
        for other in feature?.tables ?? [] { try make(other) }
    }

    /// Creates a table, unless the ledger has it.
    private mutating func make(_ table: Table) throws {
        guard present.insert(table.name).inserted else { return }
        try database.create(table)
    }

    private mutating func append(line bytes: Data) throws {
        lines += 1
        guard !isComplete, let line = try? decoder.decode(ExportLine.self, from: bytes) else {
            throw ImportError.lineInvalid(lines)
        }
        if lines == 1 {
            guard let version = line.version else { throw ImportError.lineInvalid(lines) }
            guard version == database.tables.schema.version else { throw ImportError.versionOther(version) }
        } else if let digest = line.sha256 {
            guard digest == hash.digest().hexadecimal, line.rows == rows else { throw ImportError.incomplete }
            isComplete = true
        } else {
            guard let name = line.table, let table = database.tables.schema[name], let values = line.values(of: table)
            else { throw ImportError.lineInvalid(lines) }
            try makeTables(beside: table)
            try insert(values, into: table)
            rows += 1
        }
        hash.update([UInt8](bytes)[...])
        hash.update([UInt8(ascii: "\n")])
    }

    private func insert(_ values: [SQLValue], into table: Table) throws {
        let places = (1...values.count).map { "$\($0)" }.joined(separator: ", ")
        let columns = table.columns.map(\.name).joined(separator: ", ")
        do {
            try database.execute("INSERT INTO \(table.quotedName) (\(columns)) VALUES (\(places))", values)
        } catch  where database.isConstraintViolation(error) {
            throw ImportError.lineInvalid(lines)
        }
    }
}

/// The reason why an exported ledger was not imported. The ledger is unchanged.
package enum ImportError: StatedError, Equatable {
    case notEmpty
    case unreadable(path: String)
    /// The line, counted from 1.
    case lineInvalid(Int)
    case versionOther(Int)
    /// The last line is missing, or its number of rows or its digest differs.
    case incomplete
    /// The connection to the database was lost, or another process wrote to it.
    case interrupted
    /// The problems of the imported ledger, a sentence each.
    case inconsistent([String])

    package var statement: CommandError {
        switch self {
        case .notEmpty:
            CommandError(
                "importNotEmpty",
                "The ledger is not empty. Import into an empty ledger, such as a new data directory.")
        case .unreadable(let path):
            CommandError("importUnreadable", NamedFile.fault(of: path))
        case .lineInvalid(let line):
            CommandError(
                "importLineInvalid",
                "Line \(line) is not a line of an exported ledger. Nothing was imported; export the ledger again.")
        case .versionOther(let version):
            CommandError(
                "importVersionOther",
                "The file is an export of version \(version) of the ledger, which this Till does not import. Import it with the Till "
                    + "that wrote it, or export the ledger again with this one.")
        case .incomplete:
            CommandError(
                "importIncomplete",
                "The file was truncated or changed after its export. Nothing was imported; export the ledger again.")
        case .interrupted:
            CommandError(
                "importInterrupted",
                "The connection to the database was lost, or another process wrote to it. Nothing was imported; stop the services "
                    + "on it and try again.")
        case .inconsistent(let problems):
            CommandError(
                "importUnsound",
                "The ledger in the file breaks its rules. Nothing was imported. " + problems.joined(separator: " "))
        }
    }
}

/// A new file that gets its name only when all of it is on the disk.
package enum NewFile {
    /// Creates a private file.
    ///
    /// - Parameter body: Writes the file under a temporary name. All of it is on the disk when `body` returns.
    /// - Throws: `BackupError` if the file already exists; the errors of `body`, which leave no file behind.
    static func make(at file: URL, _ body: (_ unfinished: URL) throws -> Void) throws {
        guard !FileManager.default.fileExists(atPath: file.path) else { throw BackupError.exists(path: file.path) }
        let unfinished = file.appendingPathExtension("unfinished")
        do {
            // A crash may have left this file behind.
            try? FileManager.default.removeItem(at: unfinished)
            try PrivateFile.ensureExists(at: unfinished)
            try body(unfinished)
            try FileManager.default.moveItem(at: unfinished, to: file)
        } catch {
            try? FileManager.default.removeItem(at: unfinished)
            throw error
        }
    }

    /// Writes a new private file.
    ///
    /// - Parameter body: Receives a function that appends bytes to the file.
    /// - Throws: `BackupError` if the file already exists or cannot be written; the errors of `body`.
    package static func write<Value>(
        to file: URL, _ body: (_ write: (Data) throws(BackupError) -> Void) throws -> Value
    ) throws -> Value {
        var result: Result<Value, any Error>?
        do {
            try make(at: file) { unfinished in
                let output = try FileHandle(forWritingTo: unfinished)
                defer { try? output.close() }
                let written = Result {
                    try body { bytes throws(BackupError) in
                        do { try output.write(contentsOf: bytes) } catch { throw .notWritten(path: file.path) }
                    }
                }
                result = written
                _ = try written.get()
                try output.synchronize()
            }
        } catch let error as BackupError {
            throw error
        } catch {
            if case .failure(let met) = result { throw met }
            throw BackupError.notWritten(path: file.path)
        }
        guard let result else { throw BackupError.notWritten(path: file.path) }
        return try result.get()
    }
}

/// The reason why a backup or an export was not written.
package enum BackupError: StatedError, Equatable {
    case exists(path: String)
    case notWritten(path: String)
    /// The connection to the database was lost.
    case interrupted

    package var statement: CommandError {
        switch self {
        case .exists(let path): CommandError("backupExists", "\"\(path)\" already exists. Choose another file.")
        case .notWritten(let path):
            CommandError(
                "backupNotWritten",
                "\"\(path)\" cannot be written. Check that its folder exists, that this user may write there, and that the disk "
                    + "has space.")
        case .interrupted:
            CommandError("backupInterrupted", "The connection to the database was lost during the read. Try again.")
        }
    }
}
