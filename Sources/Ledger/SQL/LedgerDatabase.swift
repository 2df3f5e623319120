/// A database as the ledger's statements see it, inside a transaction that somebody else holds.
///
/// The statements are of the SQL that SQLite and PostgreSQL share. Arguments are `$1`, `$2` and so on, first used in their
/// order; one that is used again is the same.
public protocol LedgerDatabase {
    func rows(_ sql: String, _ arguments: [any SQLConvertible]) throws -> [SQLRow]

    /// - Returns: How many rows it has inserted, updated or deleted.
    @discardableResult func execute(_ sql: String, _ arguments: [any SQLConvertible]) throws -> Int

    /// What follows a table's name where an index has to be used, for a database that would choose another by mistake.
    func indexed(by index: String) -> String

    /// Whether an error says that the tables do not allow what was to be written.
    func isRefusal(_ error: any Error) -> Bool
}

extension LedgerDatabase {
    func rows(_ sql: String) throws -> [SQLRow] { try rows(sql, []) }

    func row(_ sql: String, _ arguments: [any SQLConvertible]) throws -> SQLRow? {
        try rows(sql, arguments).first
    }

    /// The first column of the first row; nil where there is no row.
    func value<Value: SQLConvertible>(
        _ sql: String,
        _ arguments: [any SQLConvertible],
        as type: Value.Type = Value.self
    ) throws -> Value? {
        guard let row = try rows(sql, arguments).first else { return nil }
        guard let first = row.values.first, let value = Value(first) else {
            throw SQLRow.Mismatch(column: row.columns.first ?? "")
        }
        return value
    }
}
