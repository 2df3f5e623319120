/// A row of a result, with the names of its columns.
package struct SQLRow: Sendable {
    package let columns: [String]
    package let values: [SQLValue]

    init(columns: [String], values: [SQLValue]) {
        (self.columns, self.values) = (columns, values)
    }

    /// All columns of a row.
    init(_ row: inout ResultRow) throws(Mismatch) {
        columns = row.columnNames
        var values: [SQLValue] = []
        for _ in columns { values.append(try row.nextValue()) }
        self.values = values
    }

    /// The value of a column.
    ///
    /// - Throws: `Mismatch` if there is no such column, or its value has another type.
    package subscript<Value: SQLConvertible>(_ column: String) -> Value {
        get throws(Mismatch) {
            guard let index = columns.firstIndex(of: column), let value = Value(values[index]) else {
                throw Mismatch(column: column)
            }
            return value
        }
    }

    /// The same row with other values in some columns.
    package func replacing(_ values: [String: SQLValue]) -> SQLRow {
        SQLRow(columns: columns, values: zip(columns, self.values).map { values[$0] ?? $1 })
    }

    /// The values of columns, in the order of their names.
    package func values(_ columns: [String]) throws(Mismatch) -> [SQLValue] {
        var values: [SQLValue] = []
        for column in columns { values.append(try self[column]) }
        return values
    }

    /// The error of a column that is missing, or has a value that no version of Till writes.
    package struct Mismatch: Error {
        let column: String

        package init(column: String) {
            self.column = column
        }
    }
}
