import Foundation

/// A line of an exported ledger.
///
/// The first line has the version. Each further line is a row. The last line has the number of rows and the SHA-256 of all
/// lines before it, so that the import refuses a truncated or changed file.
struct ExportLine: Codable {
    /// The version of the ledger's tables, in the first line only.
    var version: Int?
    var table: String?
    /// The values by column, without nulls. Bytes are in base64.
    var row: [String: Scalar]?
    /// The number of rows, in the last line only.
    var rows: Int?
    /// The digest in hexadecimal, in the last line only.
    var sha256: String?

    enum Scalar: Codable {
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

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .number(let number): try container.encode(number)
            case .text(let text): try container.encode(text)
            }
        }
    }

    /// - Parameter row: A row of the table.
    init(_ table: Table, _ row: SQLRow) {
        self.table = table.name
        self.row = Dictionary(
            zip(row.columns, row.values).compactMap { column, value in
                switch value {
                case .null: nil
                case .integer(let number): (column, .number(number))
                case .text(let text): (column, .text(text))
                case .blob(let bytes): (column, .text(Data(bytes).base64EncodedString()))
                }
            }, uniquingKeysWith: { first, _ in first })
    }

    init(version: Int) {
        self.version = version
    }

    init(rows: Int, sha256: String) {
        self.rows = rows
        self.sha256 = sha256
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
            case (.number(let number), .integer): values.append(.integer(number))
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
