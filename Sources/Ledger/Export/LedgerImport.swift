import Foundation
import Signatures

/// The lines of an exported ledger on their way in.
struct LedgerImport {
    /// The longest line: an answer that was kept is the longest thing there is.
    private static let maximumLength = 8 << 20

    let database: any LedgerDatabase
    /// What came after the last whole line.
    private var rest = Data()
    private var hash = SHA256State()
    private let decoder = JSONDecoder()
    private var lines = 0
    private var rows = 0
    private var isComplete = false

    init(database: any LedgerDatabase) {
        self.database = database
    }

    mutating func take(_ bytes: Data) throws {
        rest.append(bytes)
        var start = rest.startIndex
        while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
            try take(line: rest[start..<end])
            start = rest.index(after: end)
        }
        rest = Data(rest[start...])
        guard rest.count <= Self.maximumLength else { throw ImportError.lineInvalid(lines + 1) }
    }

    /// - Returns: How many rows there were.
    func end() throws(ImportError) -> Int {
        guard isComplete, rest.isEmpty else { throw .incomplete }
        return rows
    }

    private mutating func take(line bytes: Data) throws {
        lines += 1
        guard !isComplete, let line = try? decoder.decode(ExportLine.self, from: bytes) else {
            throw ImportError.lineInvalid(lines)
        }
        if lines == 1 {
            guard let version = line.version else { throw ImportError.lineInvalid(lines) }
            guard version == LedgerSchema.version else { throw ImportError.versionOther(version) }
        } else if let digest = line.sha256 {
            guard digest == hash.digest().hexadecimal, line.rows == rows else { throw ImportError.incomplete }
            isComplete = true
        } else {
            guard let table = Table.all.first(where: { $0.name == line.table }),
                let values = line.values(of: table)
            else { throw ImportError.lineInvalid(lines) }
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
        } catch  where database.isRefusal(error) {
            throw ImportError.lineInvalid(lines)
        }
    }
}
