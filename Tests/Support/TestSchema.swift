import CPostgreSQL
import Foundation
import Ledger

/// A separate schema in the PostgreSQL server of `TILL_POSTGRES` (`make test-postgres`).
package struct TestSchema: Sendable {
    /// The address of the server; nil if there is none. The tests then use SQLite.
    package static let server = ProcessInfo.processInfo.environment["TILL_POSTGRES"]

    /// True if pgbouncer is in front of the server. A connection to it may be a session of another connection.
    package static let isPooled = ProcessInfo.processInfo.environment["TILL_POSTGRES_BOUNCER"] != nil
    /// True if the server is a coordinator of Citus (`make test-citus`). The tests then distribute their tables.
    package static let isDistributed = ProcessInfo.processInfo.environment["TILL_POSTGRES_CITUS"] != nil

    /// True if pgbouncer gives each transaction another session. The server itself is at `direct`.
    package static let givesTransactions = direct != nil
    /// The address of the server behind pgbouncer in transaction mode; nil for another server.
    private static let direct = ProcessInfo.processInfo.environment["TILL_POSTGRES_DIRECT"]

    /// True if each connection is a session with one PostgreSQL server.
    package static var hasSessions: Bool { server != nil && !isPooled && !isDistributed }

    struct Failure: Error {
        let message: String
    }

    /// The address for the service and the connections of a test.
    package let address: String
    /// The address of the server behind a pooler in transaction mode.
    private let direct: String?

    /// The address for a ledger.
    package var ledgerAddress: PostgreSQLAddress {
        get throws { try PostgreSQLAddress(address, direct: direct) }
    }

    /// A line to the server, and the address of the ledger over it.
    package func line() throws -> (LossyLine, String) {
        guard let port = URL(string: address)?.port else { throw Failure(message: "no port in \(address)") }
        let line = try LossyLine(to: port)
        return (line, address.replacing(":\(port)/", with: ":\(line.port)/"))
    }

    package init() throws {
        guard let server = Self.server else { throw Failure(message: "TILL_POSTGRES is not set") }
        let name = "test_\(UUID().uuidString.replacing("-", with: "").lowercased())"
        guard !Self.isPooled else {
            // pgbouncer does not pass the search path on, so a separate database replaces the schema.
            try Self.execute("CREATE DATABASE \(name) TEMPLATE template0", at: server)
            // The first connection to a new database is slow, and may come when many databases are made.
            let place = name + "?connect_timeout=30"
            address = String(server.dropLast("till".count)) + place
            direct = Self.direct.map { String($0.dropLast("till".count)) + place }
            return
        }
        direct = nil
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
