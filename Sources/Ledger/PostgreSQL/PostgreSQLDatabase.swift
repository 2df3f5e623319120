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

    func insert(into table: String, _ columns: [SQLColumn], _ rows: [[any SQLConvertible]]) throws {
        guard !rows.isEmpty else { return }
        let arrays = columns.indices.map { column in
            SQLValue.text(PostgreSQLArray.literal(of: rows.map { $0[column].sqlValue }))
        }
        let values = columns.enumerated().map { "CAST(CAST($\($0 + 1) AS text) AS \($1.arrayType))" }
        let names = columns.map(\.name).joined(separator: ", ")
        try connection.queryLater(
            SQLQuery(
                "INSERT INTO \(table) (\(names)) SELECT * FROM unnest(\(values.joined(separator: ", ")))", arrays))
    }

    func list(_ numbers: [Int64]) -> SQLValue { .text("{" + numbers.map(String.init).joined(separator: ",") + "}") }

    func listed(_ parameter: String) -> String {
        "unnest(CAST(CAST(\(parameter) AS text) AS bigint[])) AS listed (value)"
    }

    func list(_ texts: [String]) -> SQLValue { .text(PostgreSQLArray.literal(of: texts.map { .text($0) })) }

    func isIn(_ parameter: String) -> String { "= ANY(CAST(CAST(\(parameter) AS text) AS text[]))" }

    func isRefusal(_ error: any Error) -> Bool { (error as? PostgreSQLFailure)?.isRefusal ?? false }
}
