import GRDBSQLite
import Proofs

/// A row of a statement that runs. It is valid until the next row.
///
/// A reader takes the values from left to right, in the order of the columns of the `SELECT`. So no name of a column is compared
/// for a row, and no value is copied that nobody asks for:
///
///     try database.rows("SELECT name, granted_at FROM …", [user]) { row in
///         Grant(name: try row.next(), grantedAt: try row.next())
///     }
package struct ResultRow: ~Copyable {
    enum Source {
        case statement(OpaquePointer)
        case result(PostgreSQLResult, row: Int32)
    }

    let source: Source
    /// The position of the next value.
    private(set) var position: Int32 = 0

    /// The next value of any type that columns can store, or null for an `Optional`. The others are the same for the types of
    /// most columns, without a generic call.
    ///
    /// - Throws: `ColumnMismatch`, as each `next` does: if the value has another type, or if there is no further one.
    package mutating func next<Value: SQLConvertible>() throws(ColumnMismatch) -> Value {
        try some(Value(try nextValue()))
    }

    // MARK: Values without null

    package mutating func next() throws(ColumnMismatch) -> Int64 { try some(try next()) }

    package mutating func next() throws(ColumnMismatch) -> Int { try some(try next()) }

    package mutating func next() throws(ColumnMismatch) -> Bool { try some(try next()) }

    package mutating func next() throws(ColumnMismatch) -> String { try some(try next()) }

    /// The next text. It is the given one, which another column has, if both have the same bytes: most purchases are their own
    /// originals.
    package mutating func next(sharing text: String) throws(ColumnMismatch) -> String {
        if case .statement(let statement) = source, sqlite3_column_type(statement, position) == SQLITE_TEXT {
            let bytes = Self.bytes(sqlite3_column_text(statement, position), of: statement, at: position)
            let isSame = text.utf8.withContiguousStorageIfAvailable { $0.elementsEqual(bytes) } ?? false
            if isSame {
                position += 1
                return text
            }
        }
        return try next()
    }

    package mutating func next() throws(ColumnMismatch) -> StoredIdentifier {
        guard case .statement(let statement) = source, sqlite3_column_type(statement, position) == SQLITE_TEXT else {
            return StoredIdentifier(try next() as String)
        }
        defer { position += 1 }
        return StoredIdentifier(Self.bytes(sqlite3_column_text(statement, position), of: statement, at: position))
    }

    /// The next text, which many rows have.
    package mutating func next(in texts: SharedTexts) throws(ColumnMismatch) -> String {
        guard case .statement(let statement) = source, sqlite3_column_type(statement, position) == SQLITE_TEXT else {
            return try next()
        }
        defer { position += 1 }
        return texts.text(of: Self.bytes(sqlite3_column_text(statement, position), of: statement, at: position))
    }

    package mutating func next() throws(ColumnMismatch) -> Timestamp { try some(try next()) }

    package mutating func next() throws(ColumnMismatch) -> [UInt8] { try some(try next()) }

    package mutating func next() throws(ColumnMismatch) -> Origin { try some(try next()) }

    // MARK: Values that may be null

    package mutating func next() throws(ColumnMismatch) -> Int64? {
        defer { position += 1 }
        switch source {
        case .statement(let statement):
            switch sqlite3_column_type(statement, position) {
            case SQLITE_INTEGER: return sqlite3_column_int64(statement, position)
            case SQLITE_NULL where position < sqlite3_column_count(statement): return nil
            default: throw mismatch(at: position)
            }
        case .result(let result, let row):
            switch result.value(row, position) {
            case .integer(let number): return number
            case .null: return nil
            case .text, .blob, .packed, .list, nil: throw mismatch(at: position)
            }
        }
    }

    package mutating func next() throws(ColumnMismatch) -> Int? {
        guard let number: Int64 = try next() else { return nil }
        return try some(Int(exactly: number))
    }

    package mutating func next() throws(ColumnMismatch) -> Bool? {
        guard let number: Int64 = try next() else { return nil }
        return number != 0
    }

    package mutating func next() throws(ColumnMismatch) -> Timestamp? {
        guard let number: Int64 = try next() else { return nil }
        return Timestamp(millisecondsSince1970: number)
    }

    package mutating func next() throws(ColumnMismatch) -> String? {
        switch try nextValue() {
        case .text(let text), .packed(let text): return text
        case .null: return nil
        case .blob(let bytes): return try some(PackedText.text(of: bytes))
        case .integer, .list: throw mismatch(at: position - 1)
        }
    }

    package mutating func next() throws(ColumnMismatch) -> Origin? {
        guard let number: Int64 = try next() else { return nil }
        return try some(Origin(number: number))
    }

    package mutating func next() throws(ColumnMismatch) -> [UInt8]? {
        switch try nextValue() {
        case .blob(let bytes): return bytes
        case .null: return nil
        case .integer, .text, .packed, .list: throw mismatch(at: position - 1)
        }
    }

    package mutating func nextValue() throws(ColumnMismatch) -> SQLValue {
        defer { position += 1 }
        switch source {
        case .statement(let statement):
            guard position < sqlite3_column_count(statement) else { throw mismatch(at: position) }
            return Self.value(of: statement, at: position)
        case .result(let result, let row):
            guard let value = result.value(row, position) else { throw mismatch(at: position) }
            return value
        }
    }

    package mutating func rest() throws(ColumnMismatch) -> [SQLValue] { try values(from: Int(position)) }

    mutating func values(from first: Int) throws(ColumnMismatch) -> [SQLValue] {
        let count =
            switch source {
            case .statement(let statement): sqlite3_column_count(statement)
            case .result(let result, _): result.columnCount
            }
        position = Int32(first)
        var values: [SQLValue] = []
        while position < count { values.append(try nextValue()) }
        return values
    }

    // MARK: Names, for errors

    var columnNames: [String] {
        switch source {
        case .statement(let statement):
            (0..<sqlite3_column_count(statement)).map { Self.name(of: statement, at: $0) }
        case .result(let result, _): result.columnNames
        }
    }

    private func some<Value>(_ value: Value?) throws(ColumnMismatch) -> Value {
        guard let value else { throw mismatch(at: position - 1) }
        return value
    }

    private func mismatch(at position: Int32) -> ColumnMismatch {
        let names = columnNames
        return ColumnMismatch.column(names.indices.contains(Int(position)) ? names[Int(position)] : "\(position)")
    }

    private static func name(of statement: OpaquePointer, at column: Int32) -> String {
        sqlite3_column_name(statement, column).map { String(cString: $0) } ?? ""
    }

    private static func value(of statement: OpaquePointer, at column: Int32) -> SQLValue {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
        case SQLITE_BLOB:
            return .blob([UInt8](bytes(sqlite3_column_blob(statement, column), of: statement, at: column)))
        // The ledger's tables have no columns of other kinds.
        default:
            let text = bytes(sqlite3_column_text(statement, column), of: statement, at: column)
            return .text(String(decoding: text, as: UTF8.self))
        }
    }

    /// The bytes to which a function of SQLite has returned a pointer. Their number is asked for after it.
    private static func bytes(
        _ start: UnsafeRawPointer?, of statement: OpaquePointer, at column: Int32
    ) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
    }
}

/// The error of a column that is missing, or has a value that no version of Till writes.
package enum ColumnMismatch: Error {
    case column(String)
}
