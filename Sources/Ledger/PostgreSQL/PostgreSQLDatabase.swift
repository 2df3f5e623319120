import Proofs

/// A connection to PostgreSQL, inside a transaction.
struct PostgreSQLDatabase: LedgerDatabase {
    let connection: PostgreSQLConnection
    let tables: LedgerTables

    func presentTables() throws -> Set<String> {
        try connection.presentTables()
    }

    func create(_ table: Table) throws {
        for statement in table.statements(in: .postgreSQL, isDistributed: try connection.isDistributed()) {
            try write(statement, [])
        }
    }

    func recordChange(of user: Int64) { connection.changed.numbers.insert(user) }

    func forEachRow(
        _ sql: String, _ arguments: [any SQLConvertible], _ body: (inout ResultRow) throws -> Void
    ) throws {
        try connection.query(SQLQuery(sql, arguments)).forEachRow(body)
    }

    func execute(_ sql: String, _ arguments: [any SQLConvertible]) throws -> Int {
        try connection.query(SQLQuery(sql, arguments)).changes
    }

    func write(_ sql: String, _ arguments: [any SQLConvertible]) throws {
        try connection.enqueue(SQLQuery(sql, arguments))
    }

    func prefetch(_ queries: @autoclosure () -> [SQLQuery]) throws {
        try connection.prefetch(queries())
    }

    func streamRows(of sql: String, _ body: (inout ResultRow) throws -> Void) throws {
        connection.enqueue("DECLARE page NO SCROLL CURSOR FOR \(sql)")
        let nextPage = SQLQuery("FETCH 1000 FROM page")
        while case let page = try connection.query(nextPage), page.rowCount > 0 { try page.forEachRow(body) }
        connection.enqueue("CLOSE page")
    }

    /// Returns an empty text: PostgreSQL chooses the index itself.
    func indexed(by index: String) -> String { "" }

    func insert(into table: String, _ columns: [String], _ rows: [[any SQLConvertible]], isNew: Bool) throws {
        try runOnce(rows, columns, table) { values in
            "INSERT INTO \"\(table)\" (\(columns.joined(separator: ", "))) SELECT * FROM \(values)"
                + (isNew ? "" : " ON CONFLICT DO NOTHING")
        }
    }

    /// Updates rows in one statement. A row with another version makes it divide by zero, so the ledger need not wait for an
    /// answer.
    func update(
        _ table: String,
        set columns: [String],
        where keys: [String],
        incrementing version: String?,
        _ rows: [[any SQLConvertible]]
    ) throws {
        let next: [String] =
            version.map { version in
                let (present, new) = ("present.\(version)", "new.\(version)")
                return ["\(version) = CASE WHEN \(present) = \(new) THEN \(new) + 1 ELSE 1 / (\(new) - \(new)) END"]
            } ?? []
        let names = columns + keys + (version.map { [$0] } ?? [])
        try runOnce(rows, names, table) { values in
            """
            UPDATE "\(table)" AS present SET \((columns.map { "\($0) = new.\($0)" } + next).joined(separator: ", "))
            FROM \(values) AS new (\(names.joined(separator: ", "))) WHERE \(Self.condition(keys))
            """
        }
    }

    func add(to table: String, _ column: String, where keys: [String], _ rows: [[any SQLConvertible]]) throws {
        let names = keys + [column]
        try runOnce(rows, names, table) { values in
            """
            INSERT INTO "\(table)" AS present (\(names.joined(separator: ", "))) SELECT * FROM \(values)
            ON CONFLICT (\(keys.joined(separator: ", "))) DO UPDATE SET \(column) = present.\(column) + excluded.\(column)
            """
        }
    }

    func delete(from table: String, where keys: [String], _ rows: [[any SQLConvertible]]) throws {
        try runOnce(rows, keys, table) { values in
            """
            DELETE FROM "\(table)" AS present USING \(values) AS new (\(keys.joined(separator: ", ")))
            WHERE \(Self.condition(keys))
            """
        }
    }

    private static func condition(_ keys: [String]) -> String {
        keys.map { "present.\($0) = new.\($0)" }.joined(separator: " AND ")
    }

    /// Runs one statement for many rows. Each column is an array.
    private func runOnce(
        _ rows: [[any SQLConvertible]], _ columns: [String], _ table: String, _ statement: (_ values: String) -> String
    ) throws {
        guard !rows.isEmpty else { return }
        let arrays = columns.indices.map { column in
            SQLValue.text(PostgreSQLArray.literal(of: rows.map { $0[column].sqlValue }))
        }
        let values = try tables.list(of: columns, in: table) {
            let values = try columns.enumerated().map { index, column in
                let type = PostgreSQLArray.type(of: try tables.schema.kind(of: column, in: table))
                return "CAST(CAST($\(index + 1) AS text) AS \(type))"
            }
            return "unnest(\(values.joined(separator: ", ")))"
        }
        try connection.enqueue(SQLQuery(statement(values), arrays))
    }

    /// Inserts users with random numbers, so that concurrent transactions do not wait for each other.
    func insertUsers(_ columns: [String], _ rows: [[any SQLConvertible]], _ randomness: Randomness) throws -> [Int64] {
        let numbers = rows.map { _ in
            Int64(randomness.bytes(8).reduce(into: UInt64(0)) { $0 = $0 << 8 | UInt64($1) } >> 4)
        }
        try insert(into: "user", ["user_id"] + columns, zip(numbers, rows).map { [$0] + $1 })
        return numbers
    }

    func list(_ numbers: [Int64]) -> SQLValue { .text("{" + numbers.map(String.init).joined(separator: ",") + "}") }

    func listed(_ parameter: String) -> String {
        "unnest(CAST(CAST(\(parameter) AS text) AS bigint[])) AS listed (value)"
    }

    func list(_ texts: [String]) -> SQLValue { .text(PostgreSQLArray.literal(of: texts.map { .text($0) })) }

    func isIn(_ parameter: String) -> String { "= ANY(CAST(CAST(\(parameter) AS text) AS text[]))" }

    func isConstraintViolation(_ error: any Error) -> Bool {
        (error as? PostgreSQLFailure)?.isConstraintViolation ?? false
    }
}

/// PostgreSQL's literals of arrays ("Array Input and Output Syntax").
enum PostgreSQLArray {
    static func literal(of values: [SQLValue]) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "{")]
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            switch value {
            case .null: bytes += "NULL".utf8
            case .integer(let number): bytes += String(number).utf8
            case .text(let text): append(quoted: text.utf8, to: &bytes)
            case .blob(let blob): append(quoted: ("\\x" + blob.hexadecimal).utf8, to: &bytes)
            }
        }
        bytes.append(UInt8(ascii: "}"))
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func append(quoted text: String.UTF8View, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// The type of an array of a column's values.
    static func type(of kind: Table.Column.Kind) -> String {
        switch kind {
        case .text: "text[]"
        case .integer: "bigint[]"
        case .blob: "bytea[]"
        }
    }
}
