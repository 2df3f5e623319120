import Commerce

/// A database as the ledger's statements see it, inside a transaction that somebody else holds.
///
/// The statements are of the SQL that SQLite and PostgreSQL share. Arguments are `$1`, `$2` and so on, first used in their
/// order; one that is used again is the same.
package protocol LedgerDatabase {
    /// The tables that features describe.
    var tables: LedgerTables { get }

    /// The names of the tables that the ledger has.
    func presentTables() throws -> Set<String>

    func rows(_ sql: String, _ arguments: [any SQLConvertible]) throws -> [SQLRow]

    /// - Returns: How many rows it has inserted, updated or deleted.
    @discardableResult func execute(_ sql: String, _ arguments: [any SQLConvertible]) throws -> Int

    /// Writes; where that is refused, a later statement may be the first to tell, the commit the last.
    func write(_ sql: String, _ arguments: [any SQLConvertible]) throws

    /// Tells what will be asked for next, so that a database at the other end of a line can be asked for all of it at once.
    func prefetch(_ queries: @autoclosure () -> [SQLQuery]) throws

    /// Has who listens to a user told, once this is committed.
    func noteChange(of user: Int64)

    /// Reads what may be more than memory holds.
    ///
    /// - Parameter body: Given many rows at a time, in their order; none when there are no more.
    func forEachPage(of sql: String, _ body: ([SQLRow]) throws -> Void) throws

    /// Inserts rows, as one statement. Where that is refused, a later statement may be the first to tell.
    ///
    /// - Parameters:
    ///   - rows: A value for each column.
    ///   - isNew: Whether a row whose key is there is an error; else it stays as it is.
    func insert(into table: String, _ columns: [String], _ rows: [[any SQLConvertible]], isNew: Bool) throws

    /// Updates rows, as one statement, which may fail later as `insert` does.
    ///
    /// - Parameters:
    ///   - keys: The columns that identify a row.
    ///   - version: A column that counts the updates. A row with another version than the given one fails the update as a
    ///     conflict. Nil for a table without.
    ///   - rows: A value for each column that is set, then for each key, then the version.
    func update(
        _ table: String,
        set columns: [String],
        where keys: [String],
        counting version: String?,
        _ rows: [[any SQLConvertible]]
    ) throws

    /// Adds amounts to a column, and inserts the rows that are missing, as one statement, which may fail later as `insert` does.
    ///
    /// - Parameters:
    ///   - keys: The columns of the primary key.
    ///   - rows: A value for each key, then the amount. Each key occurs once.
    func add(
        to table: String,
        _ column: String,
        where keys: [String],
        _ rows: [[any SQLConvertible]]
    ) throws

    /// Deletes rows, as one statement, which may fail later as `insert` does.
    ///
    /// - Parameter rows: A value for each key.
    func delete(from table: String, where keys: [String], _ rows: [[any SQLConvertible]]) throws

    /// Inserts rows of new users, as one statement.
    ///
    /// - Parameter rows: A value for each column; the numbers of the users are none of them.
    /// - Returns: The numbers of the users.
    func insertUsers(
        _ columns: [String],
        _ rows: [[any SQLConvertible]],
        _ randomness: Randomness
    ) throws -> [Int64]

    /// The argument that has several numbers.
    func list(_ numbers: [Int64]) -> SQLValue

    /// A table `listed` whose column `value` has the numbers of an argument that `list` has made.
    func listed(_ parameter: String) -> String

    /// The argument that has several texts.
    func list(_ texts: [String]) -> SQLValue

    /// What follows a column's name to find the rows with one of the texts of an argument that `list` has made.
    func isIn(_ parameter: String) -> String

    /// What follows a table's name where an index has to be used, for a database that would choose another by mistake.
    func indexed(by index: String) -> String

    /// Whether an error says that the tables do not allow what was to be written.
    func isRefusal(_ error: any Error) -> Bool
}

extension LedgerDatabase {
    /// How many rows are in memory at once.
    package static var rowsOfPage: Int { 1000 }

    package func insert(into table: String, _ columns: [String], _ rows: [[any SQLConvertible]]) throws {
        try insert(into: table, columns, rows, isNew: true)
    }

    package func update(
        _ table: String,
        set columns: [String],
        where keys: [String],
        _ rows: [[any SQLConvertible]]
    ) throws {
        try update(table, set: columns, where: keys, counting: nil, rows)
    }

    package func rows(_ sql: String) throws -> [SQLRow] { try rows(sql, []) }

    package func rows(_ query: SQLQuery) throws -> [SQLRow] { try rows(query.sql, query.arguments) }

    package func row(_ sql: String, _ arguments: [any SQLConvertible]) throws -> SQLRow? {
        try rows(sql, arguments).first
    }

    package func row(_ query: SQLQuery) throws -> SQLRow? { try row(query.sql, query.arguments) }

    /// The first column of the first row; nil where there is no row.
    package func value<Value: SQLConvertible>(
        _ sql: String,
        _ arguments: [any SQLConvertible],
        as type: Value.Type = Value.self
    ) throws -> Value? {
        try value(SQLQuery(sql, arguments))
    }

    package func value<Value: SQLConvertible>(_ query: SQLQuery) throws -> Value? {
        guard let row = try rows(query).first else { return nil }
        guard let first = row.values.first, let value = Value(first) else {
            throw SQLRow.Mismatch(column: row.columns.first ?? "")
        }
        return value
    }
}
