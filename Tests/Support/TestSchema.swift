import CPostgreSQL
import Foundation

/// A separate schema in the PostgreSQL server of `TILL_POSTGRES` (`make test-postgres`).
package struct TestSchema: Sendable {
    /// The address of the server; nil if there is none. The tests then use SQLite.
    package static let server = ProcessInfo.processInfo.environment["TILL_POSTGRES"]

    /// True if pgbouncer is in front of the server. A connection to it may be a session of another connection.
    package static let isPooled = ProcessInfo.processInfo.environment["TILL_POSTGRES_BOUNCER"] != nil
    /// True if the server is a coordinator of Citus (`make test-citus`). The tests then distribute their tables.
    package static let isDistributed = ProcessInfo.processInfo.environment["TILL_POSTGRES_CITUS"] != nil

    /// True if each connection is a session with one PostgreSQL server.
    package static var hasSessions: Bool { server != nil && !isPooled && !isDistributed }

    struct Failure: Error {
        let message: String
    }

    /// The address for the service and the connections of a test.
    package let address: String

    package init() throws {
        guard let server = Self.server else { throw Failure(message: "TILL_POSTGRES is not set") }
        let name = "test_\(UUID().uuidString.replacing("-", with: "").lowercased())"
        guard !Self.isPooled else {
            // pgbouncer does not pass the search path on, so a separate database replaces the schema.
            try Self.execute("CREATE DATABASE \(name) TEMPLATE template0", at: server)
            // The first connection to a new database is slow, and may come when many databases are made.
            address = String(server.dropLast("till".count)) + name + "?connect_timeout=30"
            return
        }
        address = "\(server)\(server.contains("?") ? "&" : "?")options=-csearch_path%3D\(name)"
        _ = try execute("CREATE SCHEMA \(name)")
    }

    /// Runs SQL statements with the password alone.
    ///
    /// - Returns: The first column of the last result.
    @discardableResult package func execute(_ sql: String) throws -> [String] {
        try Self.execute(sql, at: address)
    }

    @discardableResult package static func execute(_ sql: String, at address: String) throws -> [String] {
        let connection = PQconnectdb(address)
        defer { PQfinish(connection) }
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            throw Failure(message: String(cString: PQerrorMessage(connection)))
        }
        return (0..<PQntuples(result)).map { String(cString: PQgetvalue(result, $0, 0)) }
    }
}
