/// A query with the values of its arguments.
struct PostgreSQLQuery: Hashable {
    let sql: String
    let values: [SQLValue]

    init(_ query: SQLQuery) {
        sql = query.sql
        values = query.arguments.map(\.sqlValue)
    }
}
