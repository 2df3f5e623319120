import CPostgreSQL

/// The answer to a statement, with its values in binary in libpq's memory.
final class PostgreSQLResult {
    /// The result of libpq. Only `deinit` frees it.
    private let handle: OpaquePointer
    let rowCount: Int32

    /// - Parameter handle: A result of libpq with values in binary. This object frees it.
    init(_ handle: OpaquePointer) {
        self.handle = handle
        rowCount = PQntuples(handle)
    }

    deinit { PQclear(handle) }

    /// The number of written rows.
    var changes: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    /// The command tag, such as COMMIT.
    var tag: String { String(cString: PQcmdStatus(handle)) }

    var columnCount: Int32 { PQnfields(handle) }

    var columnNames: [String] { (0..<columnCount).map { String(cString: PQfname(handle, $0)) } }

    /// The value of a column; nil if there is no such column.
    func value(_ row: Int32, _ column: Int32) -> SQLValue? {
        guard column < columnCount else { return nil }
        guard PQgetisnull(handle, row, column) == 0 else { return .null }
        let bytes = UnsafeRawBufferPointer(
            start: PQgetvalue(handle, row, column), count: Int(PQgetlength(handle, row, column)))
        switch PQftype(handle, column) {
        case Self.bool: return .integer(bytes.first == 1 ? 1 : 0)
        case Self.bytes: return .blob([UInt8](bytes))
        case Self.bigint where bytes.count == 8:
            return .integer(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
        case Self.smallint where bytes.count == 2:
            return .integer(Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self))))
        case Self.integer where bytes.count == 4:
            return .integer(Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self))))
        default: return .text(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// The identifiers of PostgreSQL's types (`pg_type.dat`).
    private static let (bool, bytes): (Oid, Oid) = (16, 17)
    private static let (bigint, smallint, integer): (Oid, Oid, Oid) = (20, 21, 23)

    /// Calls a function for each row, in order.
    func forEachRow(_ body: (inout ResultRow) throws -> Void) rethrows {
        for index in 0..<rowCount {
            var row = ResultRow(source: .result(self, row: index))
            try body(&row)
        }
    }

    /// The first value of the first row; nil without rows, and for null.
    func firstValue<Value: SQLConvertible>() throws(ColumnMismatch) -> Value? {
        guard rowCount > 0 else { return nil }
        var row = ResultRow(source: .result(self, row: 0))
        return try row.next()
    }
}

/// The arguments of a prepared statement in libpq's form. Numbers are sent as text, all other values in binary.
struct PostgreSQLArguments {
    private var bytes: [UInt8] = []
    /// The offset of each argument in `bytes`; nil for null.
    private var offsets: [Int?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    init(_ arguments: [SQLValue]) {
        for argument in arguments {
            let start = bytes.count
            var isBinary = true
            switch argument {
            case .null: break
            case .integer(let number):
                bytes += String(number).utf8
                isBinary = false
            case .text(let text): bytes += text.utf8
            case .blob(let blob): bytes += blob
            case .packed(let text): bytes += PackedText.bytes(of: text)
            case .list(let list): bytes += PostgreSQLArray(list).bytes
            }
            offsets.append(argument == .null ? nil : start)
            lengths.append(Int32(bytes.count - start))
            formats.append(isBinary ? 1 : 0)
            // A text ends with a zero byte. An empty value needs an address, too.
            bytes.append(0)
        }
    }

    /// - Parameter body: Receives the number of arguments, and their values, lengths and formats. The pointers are valid until
    ///   it returns.
    func withPointers<Value>(_ body: (Int32, [UnsafePointer<CChar>?], [Int32], [Int32]) -> Value) -> Value {
        bytes.withUnsafeBytes { buffer in
            let start = buffer.bindMemory(to: CChar.self).baseAddress
            let values = offsets.map { offset in offset.flatMap { offset in start.map { $0 + offset } } }
            return body(Int32(values.count), values, lengths, formats)
        }
    }
}
