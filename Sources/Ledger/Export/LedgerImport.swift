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
    private let tables: [String: Table]
    /// The names of the existing tables.
    private var present: Set<String>
    private var lines = 0
    private var rows = 0
    private var isComplete = false

    /// The dialect of the database.
    private let dialect: SQLDialect

    init(database: any LedgerDatabase, dialect: SQLDialect) throws {
        self.database = database
        self.dialect = dialect
        tables = Dictionary(uniqueKeysWithValues: database.tables.schema.tables.map { ($0.name, $0) })
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
        for statement in table.statements(in: dialect) { try database.write(statement, []) }
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
            guard let name = line.table, let table = tables[name], let values = line.values(of: table)
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
            try database.execute(
                "INSERT INTO \(table.quotedName) (\(columns)) VALUES (\(places))", values)
        } catch  where database.isConstraintViolation(error) {
            throw ImportError.lineInvalid(lines)
        }
    }
}
