import GRDBSQLite
import Proofs

/// A row of a statement that runs, read by the positions of its columns. It is valid until the next row.
///
/// For reads that every launch of an app makes: no name of a column is compared, and no column is read that nobody asks for.
package struct ResultRow: ~Copyable {
    enum Source {
        case statement(OpaquePointer)
        case values([SQLValue])
    }

    let source: Source

    package func value(at position: Int) -> SQLValue {
        switch source {
        case .values(let values): values[position]
        case .statement(let statement): Self.value(of: statement, at: Int32(position))
        }
    }

    /// - Returns: Nil for null.
    /// - Throws: `SQLRow.Mismatch` for a value of another type.
    package func optionalInteger(at position: Int) throws(SQLRow.Mismatch) -> Int64? {
        switch value(at: position) {
        case .integer(let number): return number
        case .null: return nil
        case .text, .blob: throw SQLRow.Mismatch(column: String(position))
        }
    }

    package func optionalText(at position: Int) throws(SQLRow.Mismatch) -> String? {
        switch value(at: position) {
        case .text(let text): return text
        case .null: return nil
        case .integer, .blob: throw SQLRow.Mismatch(column: String(position))
        }
    }

    package func optionalTimestamp(at position: Int) throws(SQLRow.Mismatch) -> Timestamp? {
        try optionalInteger(at: position).map { Timestamp(millisecondsSince1970: $0) }
    }

    package func integer(at position: Int) throws(SQLRow.Mismatch) -> Int64 {
        guard let number = try optionalInteger(at: position) else { throw SQLRow.Mismatch(column: String(position)) }
        return number
    }

    package func text(at position: Int) throws(SQLRow.Mismatch) -> String {
        guard let text = try optionalText(at: position) else { throw SQLRow.Mismatch(column: String(position)) }
        return text
    }

    package func timestamp(at position: Int) throws(SQLRow.Mismatch) -> Timestamp {
        Timestamp(millisecondsSince1970: try integer(at: position))
    }

    /// The value of a column of a row of SQLite.
    static func value(of statement: OpaquePointer, at column: Int32) -> SQLValue {
        func bytes(_ start: UnsafeRawPointer?) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
        }
        switch sqlite3_column_type(statement, column) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
        case SQLITE_BLOB: return .blob([UInt8](bytes(sqlite3_column_blob(statement, column))))
        // The ledger's tables have no columns of other kinds.
        default:
            let text = bytes(sqlite3_column_text(statement, column).map { UnsafeRawPointer($0) })
            return .text(String(decoding: text, as: UTF8.self))
        }
    }
}
