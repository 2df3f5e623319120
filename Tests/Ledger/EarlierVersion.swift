import Foundation
import GRDB
import Ledger
import TestSupport

/// A ledger of an earlier version with every kind of row: the tables of that version, and the rows of an export.
struct EarlierVersion {
    static let all = [14, 15, 16, 17, 18].map { EarlierVersion(number: $0) }

    let number: Int

    /// The rows in the form of `till ledger export`.
    func export() throws -> Data { Data(try Project.text("Tests/Ledger/Earlier/version-\(number).jsonl").utf8) }

    /// Creates the ledger in a file.
    func make(at file: URL) throws {
        let tables = try Project.text("Tests/Ledger/Earlier/version-\(number)-sqlite.sql")
        let rows = try rows()
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.journalMode = .wal
        try DatabaseQueue(path: file.path, configuration: configuration).write { database in
            try database.execute(sql: tables)
            for row in rows {
                let blobs = try database.columns(in: row.table).filter { $0.type == "BLOB" }.map(\.name)
                try database.execute(sql: row.insertion(blobs: Set(blobs)) { "x'\($0.hexadecimal)'" })
            }
        }
    }

    /// Creates the ledger in a PostgreSQL schema.
    func make(in schema: TestSchema) throws {
        try schema.execute(try Project.text("Tests/Ledger/Earlier/version-\(number)-postgresql.sql"))
        let blobs = Set(
            try schema.execute(
                """
                SELECT table_name || '.' || column_name FROM information_schema.columns
                WHERE table_schema = current_schema() AND data_type = 'bytea'
                """))
        let statements = try rows().map { row in
            row.insertion(blobs: Set(row.values.keys.filter { blobs.contains("\(row.table).\($0)") })) {
                "'\\x\($0.hexadecimal)'::bytea"
            }
        }
        try schema.execute(statements.joined(separator: ";\n"))
    }

    private struct Row: Decodable {
        enum Value: Decodable {
            case number(Int64)
            case text(String)

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if let number = try? container.decode(Int64.self) {
                    self = .number(number)
                } else {
                    self = .text(try container.decode(String.self))
                }
            }
        }

        let table: String
        let values: [String: Value]

        private enum CodingKeys: String, CodingKey {
            case table
            case values = "row"
        }

        /// - Parameter blobs: The columns whose text is base64.
        func insertion(blobs: Set<String>, _ literal: (Data) -> String) -> String {
            let columns = values.keys.sorted()
            let texts = columns.map { column in
                switch values[column] {
                case .number(let number): "\(number)"
                case .text(let text) where blobs.contains(column): literal(Data(base64Encoded: text) ?? Data())
                case .text(let text): "'\(text.replacing("'", with: "''"))'"
                case nil: "NULL"
                }
            }
            return
                "INSERT INTO \"\(table)\" (\(columns.joined(separator: ", "))) VALUES (\(texts.joined(separator: ", ")))"
        }
    }

    private func rows() throws -> [Row] {
        try String(decoding: try export(), as: UTF8.self).split(separator: "\n").dropFirst().dropLast().map { line in
            try JSONDecoder().decode(Row.self, from: Data(line.utf8))
        }
    }
}

extension Data {
    fileprivate var hexadecimal: String { map { String(format: "%02x", $0) }.joined() }
}
