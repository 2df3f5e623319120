import CPostgreSQL
import Foundation

/// A place of a test's own in the PostgreSQL server that `TILL_POSTGRES` names (`make test-postgres`).
public struct TestSchema: Sendable {
    /// nil where there is none: then the tests are of SQLite.
    public static let server = ProcessInfo.processInfo.environment["TILL_POSTGRES"]

    struct Failure: Error {
        let message: String
    }

    /// For the service, and for the connections of a test.
    public let address: String

    public init() throws {
        guard let server = Self.server else { throw Failure(message: "TILL_POSTGRES is not set") }
        let name = "test_\(UUID().uuidString.replacing("-", with: "").lowercased())"
        guard ProcessInfo.processInfo.environment["TILL_POSTGRES_BOUNCER"] == nil else {
            // pgbouncer passes no search path on: a database of the test's own takes the place of a schema.
            try Self.execute("CREATE DATABASE \(name) TEMPLATE template0", at: server)
            address = String(server.dropLast("till".count)) + name
            return
        }
        address = "\(server)\(server.contains("?") ? "&" : "?")options=-csearch_path%3D\(name)"
        _ = try execute("CREATE SCHEMA \(name)")
    }

    /// Runs statements as anybody can who has the password.
    ///
    /// - Returns: The first column of what the last finds.
    @discardableResult public func execute(_ sql: String) throws -> [String] {
        try Self.execute(sql, at: address)
    }

    @discardableResult public static func execute(_ sql: String, at address: String) throws -> [String] {
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
