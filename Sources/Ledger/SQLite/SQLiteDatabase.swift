import Foundation
import GRDB

/// A connection of SQLite's, inside a transaction.
struct SQLiteDatabase: LedgerDatabase {
    let database: Database

    func rows(_ sql: String, _ arguments: [any SQLConvertible]) throws -> [SQLRow] {
        let statement = try database.cachedStatement(sql: sql)
        let cursor = try Row.fetchCursor(statement, arguments: Self.arguments(arguments))
        return try Self.rows(of: cursor, statement.columnNames, limit: .max)
    }

    func write(_ sql: String, _ arguments: [any SQLConvertible]) throws {
        _ = try execute(sql, arguments)
    }

    /// It is here: asking later is as good.
    func prefetch(_ queries: [SQLQuery]) {}

    func forEachPage(of sql: String, _ body: ([SQLRow]) throws -> Void) throws {
        let statement = try database.makeStatement(sql: sql)
        let (cursor, columns) = (try Row.fetchCursor(statement), statement.columnNames)
        while case let page = try Self.rows(of: cursor, columns, limit: Self.rowsOfPage), !page.isEmpty {
            try body(page)
        }
    }

    private static func rows(of cursor: RowCursor, _ columns: [String], limit: Int) throws -> [SQLRow] {
        var rows: [SQLRow] = []
        while rows.count < limit, let row = try cursor.next() {
            rows.append(SQLRow(columns: columns, values: columns.indices.map { value(row[$0]) }))
        }
        return rows
    }

    func execute(_ sql: String, _ arguments: [any SQLConvertible]) throws -> Int {
        try database.cachedStatement(sql: sql).execute(arguments: Self.arguments(arguments))
        return database.changesCount
    }

    func indexed(by index: String) -> String { "INDEXED BY \(index)" }

    func isRefusal(_ error: any Error) -> Bool {
        (error as? DatabaseError)?.resultCode == .SQLITE_CONSTRAINT
    }

    private static func arguments(_ values: [any SQLConvertible]) -> StatementArguments {
        StatementArguments(
            values.map { value -> (any DatabaseValueConvertible)? in
                switch value.sqlValue {
                case .null: nil
                case .integer(let number): number
                case .text(let text): text
                case .blob(let bytes): Data(bytes)
                }
            })
    }

    private static func value(_ value: DatabaseValue) -> SQLValue {
        switch value.storage {
        case .null: .null
        case .int64(let number): .integer(number)
        // No table of the ledger has such a column.
        case .double(let number): .text(String(number))
        case .string(let text): .text(text)
        case .blob(let data): .blob(Array(data))
        }
    }
}
