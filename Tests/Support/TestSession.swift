import CPostgreSQL

/// A session with the PostgreSQL server of a schema, for a test that plays several transactions at once.
package final class TestSession {
    private let connection: OpaquePointer?

    /// An error of the server.
    package struct Refusal: Error, Equatable {
        /// The SQLSTATE.
        package let state: String

        package init(state: String) {
            self.state = state
        }
    }

    package init(_ schema: TestSchema) {
        connection = PQconnectdb(schema.address)
    }

    deinit { PQfinish(connection) }

    /// Runs a statement.
    ///
    /// - Parameter arguments: The arguments as texts.
    /// - Returns: The first column.
    /// - Throws: `Refusal`.
    @discardableResult package func run(_ sql: String, _ arguments: [String] = []) throws -> [String] {
        let texts = arguments.flatMap(\.utf8CString)
        let result = texts.withUnsafeBufferPointer { buffer in
            var offset = 0
            let values = arguments.map { argument in
                defer { offset += argument.utf8CString.count }
                return buffer.baseAddress.map { $0 + offset }
            }
            return PQexecParams(connection, sql, Int32(values.count), nil, values, nil, nil, 0)
        }
        defer { PQclear(result) }
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) }
            throw Refusal(state: state ?? "")
        }
        return (0..<PQntuples(result)).map { String(cString: PQgetvalue(result, $0, 0)) }
    }
}
