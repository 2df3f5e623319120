/// A connection to PostgreSQL, inside a transaction.
struct PostgreSQLDatabase: LedgerDatabase {
    let connection: PostgreSQLConnection

    func noteChange(of user: Int64) { connection.changed.insert(user) }

    func rows(_ sql: String, _ arguments: [any SQLConvertible]) throws -> [SQLRow] {
        try connection.query(SQLQuery(sql, arguments)).rows
    }

    func execute(_ sql: String, _ arguments: [any SQLConvertible]) throws -> Int {
        try connection.query(SQLQuery(sql, arguments)).changes
    }

    func write(_ sql: String, _ arguments: [any SQLConvertible]) throws {
        try connection.queryLater(SQLQuery(sql, arguments))
    }

    func prefetch(_ queries: @autoclosure () -> [SQLQuery]) throws {
        try connection.prefetch(queries())
    }

    func forEachPage(of sql: String, _ body: ([SQLRow]) throws -> Void) throws {
        connection.runLater("DECLARE page NO SCROLL CURSOR FOR \(sql)")
        while case let rows = try connection.query(SQLQuery("FETCH \(Self.rowsOfPage) FROM page")).rows, !rows.isEmpty {
            try body(rows)
        }
        connection.runLater("CLOSE page")
    }

    /// PostgreSQL chooses by itself.
    func indexed(by index: String) -> String { "" }

    func list(_ texts: [String]) -> SQLValue { .text(PostgreSQLArray.literal(of: texts)) }

    func isIn(_ parameter: String) -> String { "= ANY(CAST(CAST(\(parameter) AS text) AS text[]))" }

    func isRefusal(_ error: any Error) -> Bool { (error as? PostgreSQLFailure)?.isRefusal ?? false }
}
