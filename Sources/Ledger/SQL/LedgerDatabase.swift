import Proofs
import Synchronization
import Vocabulary

/// A database inside a transaction, for the ledger's statements.
///
/// The statements use the SQL that SQLite and PostgreSQL share. Arguments are `$1`, `$2` and so on. Their first uses are in
/// this order, and each use of a number has the same value.
package protocol LedgerDatabase {
    /// The tables that features describe.
    var tables: LedgerTables { get }

    func presentTables() throws -> Set<String>

    /// The present tables among which one is sought: all, or that one alone where reading the others costs more.
    func presentTables(seeking table: String) throws -> Set<String>

    func create(_ table: Table) throws

    /// Takes the statistics by which a database server plans its queries, after many rows were written.
    func takeStatistics(of table: Table) throws

    /// Calls a function for each row of a query, in order.
    func forEachRow(
        _ sql: String, _ arguments: [any SQLConvertible], _ body: (inout ResultRow) throws -> Void
    ) throws

    /// - Returns: The number of rows inserted, updated or deleted.
    @discardableResult func execute(_ sql: String, _ arguments: [any SQLConvertible]) throws -> Int

    /// Writes. A later statement, or the commit at the latest, may throw the error.
    func write(_ sql: String, _ arguments: [any SQLConvertible]) throws

    /// Sends the next queries ahead, so that a database server can answer all of them in one round trip.
    ///
    /// - Parameter asksForTables: True if `has` follows, too.
    func prefetch(_ queries: @autoclosure () -> [SQLQuery], asksForTables: Bool) throws

    /// The position of the commit that this transaction makes; nil for a ledger without standbys.
    var position: LedgerPosition? { get }

    /// Notifies the observers of a user after the commit.
    func recordChange(of user: Int64)

    /// Calls a function for each row of a query, in order. All rows together may exceed the memory.
    func streamRows(of sql: String, _ body: (inout ResultRow) throws -> Void) throws

    /// Inserts rows with one statement. A later statement may throw the error.
    ///
    /// - Parameters:
    ///   - rows: A value for each column.
    ///   - isNew: True if an existing key is an error. If false, the existing row stays unchanged.
    func insert(into table: String, _ columns: [String], _ rows: [[any SQLConvertible]], isNew: Bool) throws

    /// Updates rows with one statement. A later statement may throw the error.
    ///
    /// - Parameters:
    ///   - keys: The columns that identify a row.
    ///   - version: A column that counts the updates. The update fails as a conflict if a row has another version than the
    ///     given one. Nil for a table without versions.
    ///   - rows: A value for each updated column, then for each key, then the version.
    func update(
        _ table: String,
        set columns: [String],
        where keys: [String],
        incrementing version: String?,
        _ rows: [[any SQLConvertible]]
    ) throws

    /// Fails as a conflict if a row has another value than the one that was read. A later statement may throw the error.
    ///
    /// - Parameters:
    ///   - column: A column of numbers.
    ///   - keys: The columns that identify a row.
    ///   - rows: The value that was read, then a value for each key.
    func require(_ column: String, of table: String, where keys: [String], _ rows: [[any SQLConvertible]]) throws

    /// Adds amounts to a column and inserts missing rows, with one statement. A later statement may throw the error.
    ///
    /// - Parameters:
    ///   - keys: The columns of the primary key.
    ///   - rows: A value for each key, then the amount. Each key occurs once.
    func add(to table: String, _ column: String, where keys: [String], _ rows: [[any SQLConvertible]]) throws

    /// Inserts rows, and fills columns of existing ones that are null there, with one statement. A later statement may throw the error.
    ///
    /// - Parameters:
    ///   - keys: The columns of the primary key.
    ///   - owners: Columns of numbers. A row whose column has a number already is an error, as an existing key is.
    ///   - others: The columns that belong to them.
    ///   - rows: A value for each key, then for each owner and each other column. Each key occurs once.
    func fill(
        _ table: String, where keys: [String], _ owners: [String], with others: [String], _ rows: [[any SQLConvertible]]
    ) throws

    /// Deletes rows with one statement. A later statement may throw the error.
    ///
    /// - Parameter rows: A value for each key.
    func delete(from table: String, where keys: [String], _ rows: [[any SQLConvertible]]) throws

    /// Deletes all rows of tables, in which each table comes after those that it refers to. Neither triggers nor concurrent writers keep
    /// a row.
    func empty(_ tables: [Table]) throws

    /// Inserts rows of new users with one statement, and assigns their numbers.
    ///
    /// - Parameter rows: A value for each column, without the users' numbers.
    /// - Returns: The users' numbers, in order.
    func insertUsers(_ columns: [String], _ rows: [[any SQLConvertible]], _ randomness: Randomness) throws -> [Int64]

    /// The SQL after a column's name that finds the rows with one of the numbers of an argument of `list`.
    func isIn(numbers parameter: String) -> String

    /// The SQL after a column's name that finds the rows with one of the texts of an argument of `list`.
    func isIn(_ parameter: String) -> String

    /// The SQL after a packed column's name that finds the rows with one of the identifiers of an argument of `list(packed:)`.
    func isIn(packed parameter: String) -> String

    /// The parts of a statement that finds rows of a table by keys.
    ///
    /// - Parameters:
    ///   - columns: A column for each value of a key.
    ///   - keys: At least one.
    ///   - index: The index to use, for a database that would choose a worse one; nil to let it choose.
    func keyedRows(
        of table: String, where columns: [String], _ keys: SQLKeys, by index: String?
    ) -> KeyedRows

    /// True if a statement may find a user by a name and read the user's rows, which saves a round trip.
    var findsUsersInStatements: Bool { get }

    /// The SQL after a table's name that forces an index, for a database that would choose a worse one.
    func indexed(by index: String) -> String

    func isConstraintViolation(_ error: any Error) -> Bool
}

extension LedgerDatabase {
    // One round trip finds all.
    package func presentTables(seeking table: String) throws -> Set<String> { try presentTables() }

    package var position: LedgerPosition? { nil }

    // SQLite's plans follow from the statements.
    package func takeStatistics(of table: Table) throws {}

    package func keyedRows(of table: String, where columns: [String], _ keys: SQLKeys) -> KeyedRows {
        keyedRows(of: table, where: columns, keys, by: nil)
    }

    package func prefetch(_ queries: @autoclosure () -> [SQLQuery]) throws {
        try prefetch(queries(), asksForTables: false)
    }

    package func insert(into table: String, _ columns: [String], _ rows: [[any SQLConvertible]]) throws {
        try insert(into: table, columns, rows, isNew: true)
    }

    package func update(
        _ table: String, set columns: [String], where keys: [String], _ rows: [[any SQLConvertible]]
    ) throws {
        try update(table, set: columns, where: keys, incrementing: nil, rows)
    }

    /// An argument with several numbers, for `isIn(numbers:)`.
    package func list(_ numbers: [Int64]) -> SQLValue { .list(.numbers(numbers)) }

    /// An argument with several texts, for `isIn`.
    package func list(_ texts: [String]) -> SQLValue { .list(.texts(texts)) }

    /// An argument with several identifiers, for `isIn(packed:)`.
    package func list(packed texts: [String]) -> SQLValue { .list(.packed(texts)) }

    /// An argument with several texts, each once, in the order of their bytes, so that the same texts make the same query.
    package func list(eachOf texts: some Sequence<String>) -> SQLValue { list(texts.eachInOrder) }

    /// An argument with several identifiers for `isIn(packed:)`, each once, in the order of their bytes as `list(eachOf:)`.
    package func list(eachPacked texts: some Sequence<String>) -> SQLValue {
        list(packed: texts.eachInOrder)
    }

    /// The values that a function reads from the rows of a query, in their order.
    package func rows<Value>(
        _ sql: String, _ arguments: [any SQLConvertible] = [], _ value: (inout ResultRow) throws -> Value
    ) throws -> [Value] {
        var values: [Value] = []
        try forEachRow(sql, arguments) { values.append(try value(&$0)) }
        return values
    }

    package func rows<Value>(_ query: SQLQuery, _ value: (inout ResultRow) throws -> Value) throws -> [Value] {
        try rows(query.sql, query.arguments, value)
    }

    package func forEachRow(_ query: SQLQuery, _ body: (inout ResultRow) throws -> Void) throws {
        try forEachRow(query.sql, query.arguments, body)
    }

    /// The values that a function reads from the rows of a query, by keys; nil leaves a row out. The last row of a key counts.
    package func dictionary<Key, Value>(
        _ sql: String, _ arguments: [any SQLConvertible] = [], _ entry: (inout ResultRow) throws -> (Key, Value)?
    ) throws -> [Key: Value] {
        var values: [Key: Value] = [:]
        try forEachRow(sql, arguments) { row in
            if let (key, value) = try entry(&row) { values[key] = value }
        }
        return values
    }

    /// The value that a function reads from the first row of a query; nil without rows.
    package func row<Value>(
        _ sql: String, _ arguments: [any SQLConvertible] = [], _ value: (inout ResultRow) throws -> Value
    ) throws -> Value? {
        var first: Value?
        try forEachRow(sql, arguments) { row in
            if first == nil { first = try value(&row) }
        }
        return first
    }

    package func row<Value>(_ query: SQLQuery, _ value: (inout ResultRow) throws -> Value) throws -> Value? {
        try row(query.sql, query.arguments, value)
    }

    /// True if a query has a row.
    package func hasRow(_ sql: String, _ arguments: [any SQLConvertible] = []) throws -> Bool {
        try row(sql, arguments) { _ in true } ?? false
    }

    /// The first column of the first row; nil if there is no row.
    package func value<Value: SQLConvertible>(
        _ sql: String, _ arguments: [any SQLConvertible], as type: Value.Type = Value.self
    ) throws -> Value? {
        try row(sql, arguments) { try $0.next() }
    }

    package func value<Value: SQLConvertible>(_ query: SQLQuery) throws -> Value? {
        try value(query.sql, query.arguments)
    }

    /// The first column of the only row of a statement that has one whatever the tables hold, such as a count.
    ///
    /// - Throws: `BrokenInvariant` without a row.
    package func single<Value: SQLConvertible>(
        _ sql: String, _ arguments: [any SQLConvertible] = [], as type: Value.Type = Value.self
    ) throws -> Value {
        guard let value: Value = try value(sql, arguments) else {
            throw BrokenInvariant("a count, a sum and an insertion answer with a row", sql)
        }
        return value
    }

    package func single<Value: SQLConvertible>(_ query: SQLQuery) throws -> Value {
        try single(query.sql, query.arguments)
    }
}

extension Sequence<String> {
    /// Each text once, in the order of the bytes.
    fileprivate var eachInOrder: [String] {
        let texts = Array(self)
        // Many groups have one redemption, and one text needs no order.
        return texts.count < 2 ? texts : Set(texts.map { ByteKey($0) }).sorted().map(\.text)
    }
}

/// The users that a transaction has changed so far.
final class ChangedUsers {
    var numbers: Set<Int64> = []
}

final class ChangeObservers: Sendable {
    private let observers = Mutex<[@Sendable (Set<Int64>) -> Void]>([])

    func add(_ observer: @escaping @Sendable (Set<Int64>) -> Void) {
        observers.withLock { $0.append(observer) }
    }

    func notify(_ users: Set<Int64>) {
        guard !users.isEmpty else { return }
        for observer in observers.withLock({ $0 }) { observer(users) }
    }
}

/// The rows of a ledger, and the transactions on them.
package protocol LedgerStorage: Sendable {
    /// Reads a snapshot. Readers never wait for writers.
    ///
    /// - Throws: `StorageFault`; the errors of `body`.
    func read<Value>(_ extent: ReadExtent, _ body: (any LedgerDatabase) throws -> Value) throws -> Value

    /// Performs parts in order, in one commit if possible. Each part is durable when this returns, or left no trace.
    ///
    /// - Returns: The error of each request of each part; nil for a request of a committed part.
    func commit(_ parts: [LedgerPart]) -> [(any Error)?]

    var dialect: SQLDialect { get }

    /// Returns true if a retry of the read may succeed within seconds, after a failover of the database server.
    func mayReturn(after error: any Error) -> Bool

    /// Adds an observer of the users changed by each commit (`Ledger.observe`).
    func observe(_ observer: @escaping @Sendable (Set<Int64>) -> Void)

    /// Adds an observer of the moment at which the storage stops itself (`Ledger.observeStop`).
    func observeStop(_ observer: @escaping @Sendable (StorageFault) -> Void)

    /// The state of the database server; nil for a file.
    var serverReachability: ServerReachability? { get }

    /// The standbys that may answer reads; nil for none.
    var replicas: PostgreSQLReplicas? { get }

    /// The fault of a ledger that lacks a row just written.
    var damaged: StorageFault { get }
}

extension LedgerStorage {
    package func read<Value>(_ body: (any LedgerDatabase) throws -> Value) throws -> Value {
        try read(.snapshot, body)
    }

    package func mayReturn(after error: any Error) -> Bool { false }

    // A database server decides by itself when it stops.
    package func observeStop(_ observer: @escaping @Sendable (StorageFault) -> Void) {}

    package var serverReachability: ServerReachability? { nil }

    package var replicas: PostgreSQLReplicas? { nil }

    /// Runs `body` in a separate commit. It is durable when this returns, or left no trace.
    package func write<Value>(_ body: (any LedgerDatabase) throws -> Value) throws -> Value {
        var value: Value?
        let errors = withoutActuallyEscaping(body) { body in commit([LedgerPart { value = try body($0) }]) }
        if let error = errors.first ?? nil { throw error }
        guard let value else { throw damaged }
        return value
    }
}
