/// A query, and its arguments.
package struct SQLQuery {
    package let sql: String
    package let arguments: [any SQLConvertible]

    package init(_ sql: String, _ arguments: [any SQLConvertible] = []) {
        self.sql = sql
        self.arguments = arguments
    }
}
