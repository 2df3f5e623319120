import Foundation
import Proofs

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
            CommandError(
                "importUnreadable",
                "\"\(path)\" cannot be read. Check that it exists, and that this user may read it.")
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
