/// A question to a database, and the values in it.
public struct SQLQuery {
    let sql: String
    let arguments: [any SQLConvertible]

    init(_ sql: String, _ arguments: [any SQLConvertible] = []) {
        self.sql = sql
        self.arguments = arguments
    }
}
