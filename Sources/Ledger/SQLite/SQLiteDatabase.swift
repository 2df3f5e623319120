import GRDB
import GRDBSQLite
import Proofs

/// A connection to SQLite, inside a transaction.
///
/// GRDB provides the connections, the write transactions and the prepared statements. The statements run without GRDB's values
/// and rows, which take longer than SQLite itself.
struct SQLiteDatabase: LedgerDatabase {
    let database: Database
    let tables: LedgerTables
    /// The changed users; nil on a connection that only reads.
    var changed: ChangedUsers?

    func presentTables() throws -> Set<String> {
        try SQLiteSchema.tables(of: database)
    }

    func create(_ table: Table) throws {
        for statement in table.statements(in: .sqlite) { try write(statement, []) }
    }

    func recordChange(of user: Int64) { changed?.numbers.insert(user) }

    func forEachRow(
        _ sql: String, _ arguments: [any SQLConvertible], _ body: (inout ResultRow) throws -> Void
    ) throws {
        let run = try run(sql, arguments)
        defer { run.end() }
        while try run.hasNext() {
            var row = run.row
            try body(&row)
        }
    }

    func execute(_ sql: String, _ arguments: [any SQLConvertible]) throws -> Int {
        try write(sql, arguments)
        return database.changesCount
    }

    func write(_ sql: String, _ arguments: [any SQLConvertible]) throws {
        let run = try run(sql, arguments)
        defer { run.end() }
        while try run.hasNext() {}
    }

    private func run(_ sql: String, _ arguments: [any SQLConvertible]) throws -> Run {
        let values = arguments.map(\.sqlValue)
        return try Run(database.cachedStatement(sql: text(of: sql, with: values)), values, on: database)
    }

    /// The SQL with a comparison for each list of one value, which needs no table in memory: the twelve tables of a redemption took
    /// a third of SQLite's part.
    private func text(of sql: String, with values: [SQLValue]) -> String {
        let alone = values.indices.filter {
            guard case .list(let list) = values[$0] else { return false }
            return list.only != nil
        }
        guard !alone.isEmpty else { return sql }
        return tables.text(of: .init(kind: .comparison(alone), table: sql, columns: [])) {
            alone.reduce(into: sql) { $0 = $0.replacing(isIn("$\($1 + 1)"), with: "= $\($1 + 1)") }
        }
    }

    /// Does nothing: there are no round trips to save.
    func prefetch(_ queries: @autoclosure () -> [SQLQuery], asksForTables: Bool) {}

    func streamRows(of sql: String, _ body: (inout ResultRow) throws -> Void) throws {
        try forEachRow(sql, [], body)
    }

    func indexed(by index: String) -> String { "INDEXED BY \(index)" }

    /// Inserts rows with one prepared statement each. Within a process there are no round trips to save.
    func insert(into table: String, _ columns: [String], _ rows: [[any SQLConvertible]], isNew: Bool) throws {
        guard !rows.isEmpty else { return }
        let insertion = LedgerTables.Statement(kind: .insertion(isNew: isNew), table: table, columns: columns)
        try runEach(
            tables.text(of: insertion) {
                "INSERT INTO \"\(table)\" \(values(of: columns))" + (isNew ? "" : " ON CONFLICT DO NOTHING")
            }, rows)
    }

    /// Updates rows without a check of their versions: the transaction has the write lock, so no other connection can change
    /// them.
    func update(
        _ table: String,
        set columns: [String],
        where keys: [String],
        incrementing version: String?,
        _ rows: [[any SQLConvertible]]
    ) throws {
        guard !rows.isEmpty else { return }
        let update = LedgerTables.Statement(
            kind: .update(columns: columns.count, version: version), table: table, columns: columns + keys)
        try runEach(
            tables.text(of: update) {
                let next = version.map { ["\($0) = ?\(columns.count + keys.count + 1) + 1"] } ?? []
                let values = columns.enumerated().map { "\($1) = ?\($0 + 1)" } + next
                return """
                    UPDATE "\(table)" SET \(values.joined(separator: ", "))
                    WHERE \(Self.condition(keys, after: columns.count))
                    """
            }, rows)
    }

    /// Does nothing: the transaction has the write lock, so no other connection has changed the rows.
    func require(_ column: String, of table: String, where keys: [String], _ rows: [[any SQLConvertible]]) {}

    func add(to table: String, _ column: String, where keys: [String], _ rows: [[any SQLConvertible]]) throws {
        guard !rows.isEmpty else { return }
        try runEach(
            """
            INSERT INTO "\(table)" \(values(of: keys + [column]))
            ON CONFLICT (\(keys.joined(separator: ", "))) DO UPDATE SET \(column) = \(column) + excluded.\(column)
            """, rows)
    }

    func fill(
        _ table: String, where keys: [String], _ owners: [String], with others: [String], _ rows: [[any SQLConvertible]]
    ) throws {
        guard !rows.isEmpty, let key = keys.last else { return }
        let filled = (owners + others).map { "\($0) = coalesce(\($0), excluded.\($0))" }
        let taken = owners.map { "\($0) IS NOT NULL AND excluded.\($0) IS NOT NULL" }.joined(separator: " OR ")
        // A key that is null violates a constraint.
        try runEach(
            """
            INSERT INTO "\(table)" \(values(of: keys + owners + others)) ON CONFLICT (\(keys.joined(separator: ", "))) DO UPDATE
            SET \(key) = CASE WHEN \(taken) THEN NULL ELSE \(key) END, \(filled.joined(separator: ", "))
            """, rows)
    }

    func delete(from table: String, where keys: [String], _ rows: [[any SQLConvertible]]) throws {
        guard !rows.isEmpty else { return }
        try runEach("DELETE FROM \"\(table)\" WHERE \(Self.condition(keys, after: 0))", rows)
    }

    /// The SQL after the table of an insertion.
    private func values(of columns: [String]) -> String {
        let parameters = (1...columns.count).map { "$\($0)" }.joined(separator: ", ")
        return "(\(columns.joined(separator: ", "))) VALUES (\(parameters))"
    }

    private static func condition(_ keys: [String], after count: Int) -> String {
        keys.enumerated().map { "\($1) = ?\(count + $0 + 1)" }.joined(separator: " AND ")
    }

    private func runEach(_ sql: String, _ rows: [[any SQLConvertible]]) throws {
        let statement = try database.cachedStatement(sql: sql)
        for row in rows {
            let run = try Run(statement, row.map(\.sqlValue), on: database)
            defer { run.end() }
            while try run.hasNext() {}
        }
    }

    /// The triggers that keep the rows of a table go, and come back in the same transaction.
    func empty(_ tables: [Table]) throws {
        for table in tables.reversed() {
            let triggers: [String] = try rows(
                "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = $1", [table.name]
            ) { try $0.next() }
            for trigger in triggers { try write("DROP TRIGGER \"\(trigger)\"", []) }
            try write("DELETE FROM \(table.quotedName)", [])
            for trigger in table.sqliteTriggers { try write(trigger, []) }
        }
    }

    /// Inserts users with consecutive numbers, which keep the rows of new users together.
    ///
    /// SQLite counts from the last row, so the first user after a reset would have the number of another, which other processes remember.
    func insertUsers(_ columns: [String], _ rows: [[any SQLConvertible]], _ randomness: Randomness) throws -> [Int64] {
        let insertion = tables.text(of: .init(kind: .numbered, table: "user", columns: columns)) {
            #"INSERT INTO "user" \#(values(of: columns)) RETURNING user_id"#
        }
        return try rows.map { row in
            let number: Int64 = try single(insertion, row)
            guard number == 1, let last = try lastUserBeforeReset() else { return number }
            try write(#"UPDATE "user" SET user_id = $1 WHERE user_id = 1"#, [last + 1])
            return last + 1
        }
    }

    func isIn(numbers parameter: String) -> String { isIn(parameter) }

    func isIn(packed parameter: String) -> String { isIn(parameter) }

    func isIn(_ parameter: String) -> String { "IN (SELECT value FROM json_each(\(parameter)))" }

    var findsUsersInStatements: Bool { false }

    /// The planner reads the keys first, because of `CROSS JOIN`. A key alone needs no table in memory.
    func keyedRows(
        of table: String, where columns: [String], _ keys: SQLKeys, by index: String?
    ) -> KeyedRows {
        let source = table + (index.map { " \(indexed(by: $0))" } ?? "")
        func condition(_ value: (Int, String) -> String) -> String {
            columns.enumerated().map { "\(table).\($1) = \(value($0, $1))" }.joined(separator: " AND ")
        }
        if keys.count == 1 {
            return KeyedRows(
                source: source, condition: condition { place, _ in "$\(place + 1)" },
                arguments: keys.columns.compactMap(\.only))
        }
        let values = columns.enumerated().map { "json_extract(value, '$[\($0)]') AS asked_\($1)" }
        return KeyedRows(
            source: "(SELECT \(values.joined(separator: ", ")) FROM json_each($1)) AS asked CROSS JOIN \(source)",
            condition: condition { "asked_\($1)" }, arguments: [.text(keys.json)])
    }

    func isConstraintViolation(_ error: any Error) -> Bool {
        (error as? DatabaseError)?.resultCode == .SQLITE_CONSTRAINT
    }

    /// The run of a statement, from its first row to its last.
    private struct Run {
        private let statement: Statement
        private let database: Database

        init(_ statement: Statement, _ arguments: [SQLValue], on database: Database) throws {
            self.statement = statement
            self.database = database
            guard Int(sqlite3_bind_parameter_count(statement.sqliteStatement)) == arguments.count else {
                throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "The number of arguments differs.")
            }
            for (index, argument) in arguments.enumerated() {
                try check(bind(argument, at: Int32(index + 1)))
            }
        }

        /// Resets the statement for its next run. SQLite repeats an earlier error here.
        func end() {
            sqlite3_reset(statement.sqliteStatement)
        }

        /// Steps to the next row.
        ///
        /// - Returns: False after the last row.
        func hasNext() throws -> Bool {
            let code = sqlite3_step(statement.sqliteStatement)
            guard code == SQLITE_ROW || code == SQLITE_DONE else { throw error(code) }
            return code == SQLITE_ROW
        }

        /// The row of the last step.
        var row: ResultRow { ResultRow(source: .statement(statement.sqliteStatement)) }

        private func bind(_ value: SQLValue, at index: Int32) -> Int32 {
            let handle = statement.sqliteStatement
            switch value {
            case .null: return sqlite3_bind_null(handle, index)
            case .integer(let number): return sqlite3_bind_int64(handle, index, number)
            case .list(let list): return bind(list.only ?? .text(list.json), at: index)
            case .text(var text), .packed(var text):
                return text.withUTF8 { bytes in
                    bytes.withMemoryRebound(to: CChar.self) { bytes in
                        // SQLite would store a null pointer as NULL.
                        guard let start = bytes.baseAddress else {
                            return sqlite3_bind_text(handle, index, "", 0, copied)
                        }
                        return sqlite3_bind_text(handle, index, start, Int32(bytes.count), copied)
                    }
                }
            case .blob(let blob):
                return blob.withUnsafeBytes { bytes in
                    guard let start = bytes.baseAddress else { return sqlite3_bind_zeroblob(handle, index, 0) }
                    return sqlite3_bind_blob(handle, index, start, Int32(bytes.count), copied)
                }
            }
        }

        /// `SQLITE_TRANSIENT`: SQLite copies the value. In C it is the number -1 cast to a function pointer, which Swift does
        /// not import. SQLite compares it and never calls it.
        private var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

        private func check(_ code: Int32) throws {
            guard code == SQLITE_OK else { throw error(code) }
        }

        private func error(_ code: Int32) -> DatabaseError {
            DatabaseError(resultCode: ResultCode(rawValue: code), message: database.lastErrorMessage)
        }
    }
}

extension SQLList {
    /// The value of a list that has one alone.
    fileprivate var only: SQLValue? {
        switch self {
        case .numbers(let numbers): numbers.count == 1 ? .integer(numbers[0]) : nil
        case .texts(let texts), .packed(let texts): texts.count == 1 ? .text(texts[0]) : nil
        }
    }

    /// The values as an array for `json_each`.
    fileprivate var json: String {
        switch self {
        case .numbers(let numbers): "[" + numbers.map(String.init).joined(separator: ",") + "]"
        case .texts(let texts), .packed(let texts): JSONValue.array(texts.map { .string($0) }).compactText
        }
    }

    /// The values, each as JSON.
    fileprivate var elements: [String] {
        switch self {
        case .numbers(let numbers): numbers.map(String.init)
        case .texts(let texts), .packed(let texts): texts.map { JSONValue.string($0).compactText }
        }
    }
}

extension SQLKeys {
    /// The keys as arrays in an array, for `json_each`.
    fileprivate var json: String {
        let columns = columns.map(\.elements)
        let keys = (0..<count).map { key in "[" + columns.map { $0[key] }.joined(separator: ",") + "]" }
        return "[" + keys.joined(separator: ",") + "]"
    }
}
