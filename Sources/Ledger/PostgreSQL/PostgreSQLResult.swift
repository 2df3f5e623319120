import CPostgreSQL

/// The answer to a statement.
struct PostgreSQLResult {
    let rows: [SQLRow]
    /// The number of written rows.
    let changes: Int
    /// The command tag, such as COMMIT.
    let tag: String

    /// The identifiers of PostgreSQL's types (`pg_type.dat`).
    private static let (bool, bytes): (Oid, Oid) = (16, 17)
    private static let integers: Set<Oid> = [20, 21, 23]

    private static func value(_ bytes: UnsafeRawBufferPointer, of type: Oid) -> SQLValue {
        if type == bool { return .integer(bytes.first == 1 ? 1 : 0) }
        if type == Self.bytes { return .blob([UInt8](bytes)) }
        guard integers.contains(type), let first = bytes.first else {
            return .text(String(decoding: bytes, as: UTF8.self))
        }
        // The bytes are big-endian and signed.
        return .integer(bytes.dropFirst().reduce(Int64(Int8(bitPattern: first))) { $0 << 8 | Int64($1) })
    }
}

extension PostgreSQLResult {
    /// - Parameter result: A result of libpq with values in binary. The caller frees it.
    init(_ result: OpaquePointer) {
        tag = String(cString: PQcmdStatus(result))
        changes = Int(String(cString: PQcmdTuples(result))) ?? 0
        let columns = (0..<PQnfields(result)).map { String(cString: PQfname(result, $0)) }
        let types = columns.indices.map { PQftype(result, Int32($0)) }
        rows = (0..<PQntuples(result)).map { row in
            SQLRow(
                columns: columns,
                values: types.indices.map { column in
                    let column = Int32(column)
                    guard PQgetisnull(result, row, column) == 0 else { return .null }
                    return Self.value(
                        UnsafeRawBufferPointer(
                            start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column))),
                        of: types[Int(column)])
                })
        }
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
