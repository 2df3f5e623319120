import Foundation

/// A line of an exported ledger: the first names its version, then each is a row, and the last says how many there were and
/// what all lines before hash to, so that a file that was cut off or changed is not taken in.
struct ExportLine: Codable {
    /// The version of the ledger's tables; in the first line alone.
    var version: Int?
    var table: String?
    /// Nulls are left out; bytes are in base64.
    var row: [String: Scalar]?
    /// In the last line alone.
    var rows: Int?
    /// Hexadecimal.
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

    /// - Parameter row: What a table's row has, by its columns.
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

    /// - Returns: One for each column of the table, in their order; nil where one is of another kind, or is none of the table's.
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
