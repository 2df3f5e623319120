/// What a statement has found, by the names of its columns.
package struct SQLRow: Sendable {
    let columns: [String]
    let values: [SQLValue]

    /// - Throws: `Mismatch` where the column is not there or holds something else.
    package subscript<Value: SQLConvertible>(_ column: String) -> Value {
        get throws(Mismatch) {
            guard let index = columns.firstIndex(of: column), let value = Value(values[index]) else {
                throw Mismatch(column: column)
            }
            return value
        }
    }

    /// A column holds what no version of Till has written there.
    package struct Mismatch: Error {
        let column: String
    }
}
