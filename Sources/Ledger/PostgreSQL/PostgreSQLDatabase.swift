import Proofs

/// A connection to PostgreSQL, inside a transaction.
struct PostgreSQLDatabase: LedgerDatabase {
    let connection: PostgreSQLConnection
    let tables: LedgerTables

    func presentTables() throws -> Set<String> {
        if let found = connection.foundTables { return found }
        let found = try connection.presentTables()
        connection.foundTables = found
        return found
    }

    func create(_ table: Table) throws {
        connection.foundTables = nil
        for statement in table.statements(in: .postgreSQL, isDistributed: try connection.isDistributed()) {
            try write(statement, [])
        }
    }

    func takeStatistics(of table: Table) throws {
        // The nodes of Citus take their own.
        if !connection.hasCitus { connection.enqueue("ANALYZE \(table.quotedName)") }
    }

    var position: LedgerPosition? { connection.position }

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

    func prefetch(_ queries: @autoclosure () -> [SQLQuery], asksForTables: Bool) throws {
        let asksForTables = asksForTables && connection.foundTables == nil && !tables.areAllPresent
        try connection.prefetch(queries() + (asksForTables ? [PostgreSQLConnection.presentTables] : []))
        // The next write forgets the rows.
        if asksForTables { _ = try presentTables() }
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
            FROM \(values) AS new (\(names.joined(separator: ", ")))
            WHERE \(try condition(keys, in: table, after: columns.count))
            """
        }
    }

    /// Writes the present value again, so that a concurrent change is a conflict on the node of the row, or divides by zero.
    func require(_ column: String, of table: String, where keys: [String], _ rows: [[any SQLConvertible]]) throws {
        let names = [column] + keys
        let (present, new) = ("present.\(column)", "new.\(column)")
        try runOnce(rows, names, table) { values in
            """
            UPDATE "\(table)" AS present
            SET \(column) = CASE WHEN \(present) = \(new) THEN \(present) ELSE 1 / (\(new) - \(new)) END
            FROM \(values) AS new (\(names.joined(separator: ", ")))
            WHERE \(try condition(keys, in: table, after: 1))
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

    /// Two numbers make it divide by zero, as `update` does.
    func fill(
        _ table: String, where keys: [String], _ owners: [String], with others: [String], _ rows: [[any SQLConvertible]]
    ) throws {
        let names = keys + owners + others
        let filled =
            owners.map { owner in
                let (present, new) = ("present.\(owner)", "excluded.\(owner)")
                return "\(owner) = CASE WHEN \(present) IS NULL THEN \(new) WHEN \(new) IS NULL THEN \(present) "
                    + "ELSE 1 / (\(new) - \(new)) END"
            } + others.map { "\($0) = coalesce(present.\($0), excluded.\($0))" }
        try runOnce(rows, names, table) { values in
            """
            INSERT INTO "\(table)" AS present (\(names.joined(separator: ", "))) SELECT * FROM \(values)
            ON CONFLICT (\(keys.joined(separator: ", "))) DO UPDATE SET \(filled.joined(separator: ", "))
            """
        }
    }

    func delete(from table: String, where keys: [String], _ rows: [[any SQLConvertible]]) throws {
        try runOnce(rows, keys, table) { values in
            """
            DELETE FROM "\(table)" AS present USING \(values) AS new (\(keys.joined(separator: ", ")))
            WHERE \(try condition(keys, in: table, after: 0))
            """
        }
    }

    /// The condition that finds the rows of keys.
    ///
    /// Citus distributes each table by the first column of its key, and sends a statement with a list of its values only to their
    /// shards. PostgreSQL would read all rows with these values, so it gets the list only with Citus.
    ///
    /// - Parameter count: The number of arguments before the first key.
    private func condition(_ keys: [String], in table: String, after count: Int) throws -> String {
        var conditions = keys.map { "present.\($0) = new.\($0)" }
        if connection.hasCitus, let first = keys.first {
            let kind = try tables.schema.kind(of: first, in: table)
            conditions.append("present.\(first) = ANY(\(PostgreSQLArray.parameter("$\(count + 1)", of: kind)))")
        }
        return conditions.joined(separator: " AND ")
    }

    /// Runs one statement for many rows. Each column is an array.
    private func runOnce(
        _ rows: [[any SQLConvertible]],
        _ columns: [String],
        _ table: String,
        _ statement: (_ values: String) throws -> String
    ) throws {
        guard !rows.isEmpty else { return }
        let kinds = try columns.map { try tables.schema.kind(of: $0, in: table) }
        let arrays = try kinds.enumerated().map { column, kind in
            SQLValue.blob(try PostgreSQLArray(of: kind, rows.map { $0[column].sqlValue }).bytes)
        }
        let values = tables.text(of: .init(kind: .arrays, table: table, columns: columns)) {
            let values = kinds.enumerated().map { PostgreSQLArray.parameter("$\($0 + 1)", of: $1) }
            return "unnest(\(values.joined(separator: ", ")))"
        }
        try connection.enqueue(SQLQuery(try statement(values), arrays))
    }

    /// `DELETE` would leave the rows that a concurrent transaction inserts. `TRUNCATE` waits for the transactions that write, and those
    /// after it find nothing (PostgreSQL, "TRUNCATE": ACCESS EXCLUSIVE).
    func empty(_ tables: [Table]) throws {
        try write("TRUNCATE \(tables.map(\.quotedName).joined(separator: ", "))", [])
    }

    /// Inserts users with random numbers, so that concurrent transactions do not wait for each other.
    func insertUsers(_ columns: [String], _ rows: [[any SQLConvertible]], _ randomness: Randomness) throws -> [Int64] {
        let numbers = rows.map { _ in
            Int64(randomness.bytes(8).reduce(into: UInt64(0)) { $0 = $0 << 8 | UInt64($1) } >> 4)
        }
        try insert(into: "user", ["user_id"] + columns, zip(numbers, rows).map { [$0] + $1 })
        return numbers
    }

    func isIn(numbers parameter: String) -> String { "= ANY(\(PostgreSQLArray.parameter(parameter, of: .integer)))" }

    func isIn(_ parameter: String) -> String { "= ANY(\(PostgreSQLArray.parameter(parameter, of: .text)))" }

    func isIn(packed parameter: String) -> String { "= ANY(\(PostgreSQLArray.parameter(parameter, of: .packed)))" }

    /// Citus would ask all shards of the rows, and plan each time: 72 reads a second in place of 2,000.
    var findsUsersInStatements: Bool { !connection.hasCitus }

    func keyedRows(
        of table: String, where columns: [String], _ keys: SQLKeys, by index: String?
    ) -> KeyedRows {
        let arrays = keys.columns.enumerated().map { PostgreSQLArray.parameter("$\($0 + 1)", of: $1.kind) }
        let arguments = keys.columns.map { SQLValue.list($0) }
        // Citus finds the shards of a statement by such lists, and runs no sub-select about each of several keys.
        guard !connection.hasCitus else {
            let conditions = zip(columns, arrays).map { "\(table).\($0) = ANY(\($1))" }
            return KeyedRows(source: table, condition: conditions.joined(separator: " AND "), arguments: arguments)
        }
        // Without `OFFSET`, the planner might read a whole small table to join it, which conflicts with each writer of it.
        let (asked, same) = (columns.map { "asked_\($0)" }, columns.map { "\($0) = asked_\($0)" })
        return KeyedRows(
            source: """
                unnest(\(arrays.joined(separator: ", "))) AS asked (\(asked.joined(separator: ", ")))
                CROSS JOIN LATERAL (
                    SELECT * FROM \(table) WHERE \(same.joined(separator: " AND ")) OFFSET 0) AS \(table)
                """, condition: "TRUE", arguments: arguments)
    }

    func isConstraintViolation(_ error: any Error) -> Bool {
        (error as? PostgreSQLFailure)?.isConstraintViolation ?? false
    }
}

/// An array as an argument of a statement, in PostgreSQL's binary form (`array_recv`).
///
/// The argument has the type of the column's arrays: a spread database finds the shards of a statement only by such an argument.
/// In binary, the server refuses a text with a zero byte, which would end a text in libpq's text form.
struct PostgreSQLArray {
    /// Binary values of all types are sent as bytes.
    private(set) var bytes: [UInt8] = []

    /// - Throws: `PostgreSQLFailure` (22P02) if a value is of another kind.
    init(of kind: Table.Column.Kind, _ values: [SQLValue]) throws(PostgreSQLFailure) {
        self.init(of: kind, count: values.count)
        for value in values {
            switch (value, kind) {
            case (.null, _): append(Int32(-1))
            case (.integer(let number), .integer), (.integer(let number), .origin), (.integer(let number), .small):
                append(element: number)
            case (.text(let text), .text): append(element: text)
            case (.text(let text), .packed), (.packed(let text), .packed): append(element: PackedText.bytes(of: text))
            case (.blob(let blob), .blob), (.blob(let blob), .packed): append(element: blob)
            default: throw PostgreSQLFailure(state: "22P02")
            }
        }
    }

    init(_ list: SQLList) {
        switch list {
        case .numbers(let numbers):
            self.init(of: list.kind, count: numbers.count)
            for number in numbers { append(element: number) }
        case .texts(let texts):
            self.init(of: list.kind, count: texts.count)
            for text in texts { append(element: text) }
        case .packed(let texts):
            self.init(of: list.kind, count: texts.count)
            for text in texts { append(element: PackedText.bytes(of: text)) }
        }
    }

    /// The array without its elements: one dimension that begins at 1 and may have nulls.
    private init(of kind: Table.Column.Kind, count: Int) {
        let (dimensions, hasNulls, firstIndex): (Int32, Int32, Int32) = (1, 1, 1)
        for number in [dimensions, hasNulls, Self.type(of: kind).number, Int32(count), firstIndex] { append(number) }
    }

    /// The SQL of a parameter for an array of a column's values.
    static func parameter(_ parameter: String, of kind: Table.Column.Kind) -> String {
        "CAST(\(parameter) AS \(type(of: kind).name)[])"
    }

    /// The type of a column, and its number (`pg_type.dat`).
    private static func type(of kind: Table.Column.Kind) -> (name: String, number: Int32) {
        switch kind {
        case .text: ("text", 25)
        case .integer, .origin, .small: ("bigint", 20)
        case .blob, .packed: ("bytea", 17)
        }
    }

    private mutating func append(element number: Int64) {
        append(Int32(8))
        append(number)
    }

    private mutating func append(element text: String) {
        append(Int32(text.utf8.count))
        bytes += text.utf8
    }

    private mutating func append(element blob: [UInt8]) {
        append(Int32(blob.count))
        bytes += blob
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }
}

extension SQLList {
    /// The kind of a column with such values.
    fileprivate var kind: Table.Column.Kind {
        switch self {
        case .numbers: .integer
        case .texts: .text
        case .packed: .packed
        }
    }
}
