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
        var names = Set<String>(minimumCapacity: tables.schema.tables.count)
        try forEachRow("SELECT name FROM sqlite_schema WHERE type = 'table'", []) { names.insert(try $0.next()) }
        return names
    }

    func presentTables(seeking table: String) throws -> Set<String> {
        // A prepared statement, because a commit asks if a feature that the service does not use has tables meanwhile. The names of all
        // tables were 15 allocations of each redemption.
        var names: Set<String> = []
        try forEachRow("SELECT name FROM sqlite_schema WHERE type = 'table' AND name = $1", [table]) {
            names.insert(try $0.next())
        }
        return names
    }

    func create(_ table: Table) throws {
        for statement in table.statements(in: .sqlite) { try write(statement, []) }
    }

    func recordChange(of user: Int64) { changed?.numbers.insert(user) }

    func forEachRow(
        _ sql: String, _ arguments: [any SQLConvertible], _ body: (inout ResultRow) throws -> Void
    ) throws {
        try run(database.cachedStatement(sql: text(of: sql, with: arguments)), arguments) { run in
            while try run.hasNext() {
                var row = run.row
                try body(&row)
            }
        }
    }

    func execute(_ sql: String, _ arguments: [any SQLConvertible]) throws -> Int {
        try write(sql, arguments)
        return database.changesCount
    }

    func write(_ sql: String, _ arguments: [any SQLConvertible]) throws {
        try run(database.cachedStatement(sql: text(of: sql, with: arguments)), arguments) { run in
            while try run.hasNext() {}
        }
    }

    /// Runs a statement. `body` steps through its rows.
    private func run(
        _ statement: Statement, _ arguments: [any SQLConvertible], _ body: (Run) throws -> Void
    ) throws {
        try withUnsafeTemporaryAllocation(byteCount: Run.room, alignment: 1) { room in
            var run = Run(statement, on: database, bindingIn: room)
            defer { run.end() }
            try run.bind(arguments)
            try body(run)
        }
    }

    /// The SQL with a comparison for each list of one value, which needs no table in memory: the twelve tables of a redemption took
    /// a third of SQLite's part.
    private func text(of sql: String, with arguments: [any SQLConvertible]) -> String {
        // A bit for each of the first arguments. A list behind them keeps its table.
        var alone: UInt64 = 0
        for (index, argument) in arguments.enumerated().prefix(alone.bitWidth) {
            if case .list(let list) = argument.sqlValue, list.only != nil { alone |= 1 << index }
        }
        guard alone > 0 else { return sql }
        return tables.text(of: .init(kind: .comparison(alone), table: sql, columns: [])) {
            (1...alone.bitWidth).filter { alone >> ($0 - 1) & 1 == 1 }
                .reduce(into: sql) { $0 = $0.replacing(isIn("$\($1)"), with: "= $\($1)") }
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
        let filling = LedgerTables.Statement(
            kind: .filling(owners: owners.count, others: others.count), table: table, columns: keys + owners + others)
        try runEach(
            tables.text(of: filling) { fillingText(table, where: keys, key, owners, with: others) }, rows)
    }

    /// - Parameter key: The last of the keys. If it is null, it violates a constraint.
    private func fillingText(
        _ table: String, where keys: [String], _ key: String, _ owners: [String], with others: [String]
    ) -> String {
        let filled = (owners + others).map { "\($0) = coalesce(\($0), excluded.\($0))" }
        let taken = owners.map { "\($0) IS NOT NULL AND excluded.\($0) IS NOT NULL" }.joined(separator: " OR ")
        return """
            INSERT INTO "\(table)" \(values(of: keys + owners + others)) ON CONFLICT (\(keys.joined(separator: ", "))) DO UPDATE
            SET \(key) = CASE WHEN \(taken) THEN NULL ELSE \(key) END, \(filled.joined(separator: ", "))
            """
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
        for row in rows { try run(statement, row) { run in while try run.hasNext() {} } }
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

    func isIn(_ parameter: String) -> String {
        switch parameter {
        // Nearly every statement of a redemption has one of them, which is no new text each time.
        case "$1": "IN (SELECT value FROM json_each($1))"
        case "$2": "IN (SELECT value FROM json_each($2))"
        default: "IN (SELECT value FROM json_each(\(parameter)))"
        }
    }

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
        /// The bytes of memory on the stack for texts and blobs. A row of a redemption has a few hundred.
        static let room = 1024

        private let statement: Statement
        private let database: Database
        /// The memory that no value is in yet.
        private var room: UnsafeMutableRawBufferPointer

        /// - Parameter room: Memory that outlives the run.
        init(_ statement: Statement, on database: Database, bindingIn room: UnsafeMutableRawBufferPointer) {
            (self.statement, self.database, self.room) = (statement, database, room)
        }

        mutating func bind(_ arguments: [any SQLConvertible]) throws {
            guard Int(sqlite3_bind_parameter_count(statement.sqliteStatement)) == arguments.count else {
                throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "The number of arguments differs.")
            }
            for (index, argument) in arguments.enumerated() {
                try check(bind(argument.sqlValue, at: Int32(index + 1)))
            }
        }

        /// Resets the statement for its next run, and takes its values away, which end with the run. SQLite repeats an earlier error
        /// here.
        func end() {
            sqlite3_reset(statement.sqliteStatement)
            sqlite3_clear_bindings(statement.sqliteStatement)
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

        private mutating func bind(_ value: SQLValue, at index: Int32) -> Int32 {
            let handle = statement.sqliteStatement
            switch value {
            case .null: return sqlite3_bind_null(handle, index)
            case .integer(let number): return sqlite3_bind_int64(handle, index, number)
            case .list(let list):
                // As in the text of the statement: a list behind the first arguments keeps its table.
                let only = index <= UInt64.bitWidth ? list.only : nil
                return bind(only ?? .text(list.json), at: index)
            case .text(var text), .packed(var text):
                return text.withUTF8 { bytes in
                    // SQLite would store a null pointer as NULL.
                    guard let start = bytes.baseAddress else {
                        return sqlite3_bind_text(handle, index, "", 0, copied)
                    }
                    let kept = keep(UnsafeRawBufferPointer(bytes))
                    return sqlite3_bind_text(
                        handle, index, (kept ?? UnsafeRawPointer(start)).assumingMemoryBound(to: CChar.self),
                        Int32(bytes.count), kept == nil ? copied : nil)
                }
            case .blob(let blob):
                return blob.withUnsafeBytes { bytes in
                    guard let start = bytes.baseAddress else { return sqlite3_bind_zeroblob(handle, index, 0) }
                    let kept = keep(bytes)
                    return sqlite3_bind_blob(
                        handle, index, kept ?? start, Int32(bytes.count), kept == nil ? copied : nil)
                }
            }
        }

        /// Copies a value to where it stays until the end of the run, so that SQLite allocates no memory for a copy of its own.
        ///
        /// - Returns: Nil if there is no room for it.
        private mutating func keep(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
            guard bytes.count <= room.count, let start = room.baseAddress else { return nil }
            room.copyMemory(from: bytes)
            room = UnsafeMutableRawBufferPointer(rebasing: room[bytes.count...])
            return UnsafeRawPointer(start)
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
