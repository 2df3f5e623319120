/// A question to a database, and the values in it.
package struct SQLQuery {
    package let sql: String
    package let arguments: [any SQLConvertible]

    package init(_ sql: String, _ arguments: [any SQLConvertible] = []) {
        self.sql = sql
        self.arguments = arguments
    }
}
