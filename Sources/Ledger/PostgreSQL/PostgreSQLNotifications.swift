import CPostgreSQL
import Dispatch
import Foundation
import Proofs
import Synchronization

/// Notifications of changed users between the services on one database (LISTEN and NOTIFY).
///
/// A separate transaction sends them after the commit, because PostgreSQL runs commits that notify one after the other. A
/// notification may be lost with the service that sends it, or with the connection. An observer that needs certainty polls the
/// ledger.
final class PostgreSQLNotifications: Sendable {
    /// The largest number of users in a notification, which PostgreSQL limits to 8,000 bytes.
    private static let maximumUsers = 300
    /// The time after which the listening thread checks that it is still needed, in milliseconds.
    private static let pollInterval: Int32 = 500

    private let pool: PostgreSQLPool
    private let observers: ChangeObservers
    private let sender = DispatchQueue(label: "till.notifications")
    /// The users of the next notification.
    private let waiting = Mutex<Set<Int64>>([])

    init(pool: PostgreSQLPool, address: PostgreSQLAddress, observers: ChangeObservers) {
        self.pool = pool
        self.observers = observers
        Thread.detachNewThread { [weak self] in
            while self != nil {
                // The thread retries if the server is unreachable.
                do { try Self.listen(at: address) { self } } catch { Thread.sleep(forTimeInterval: 1) }
            }
        }
    }

    func notify(_ users: Set<Int64>) {
        guard !users.isEmpty else { return }
        let isFirst = waiting.withLock { waiting in
            defer { waiting.formUnion(users) }
            return waiting.isEmpty
        }
        if isFirst { sender.async { [weak self] in self?.send() } }
    }

    private func send() {
        let users = waiting.withLock { waiting in
            defer { waiting = [] }
            return Array(waiting)
        }
        for start in stride(from: 0, to: users.count, by: Self.maximumUsers) {
            let text = users[start..<min(start + Self.maximumUsers, users.count)].map(String.init)
                .joined(separator: " ")
            try? pool.withConnection { connection in
                connection.enqueue("BEGIN ISOLATION LEVEL READ COMMITTED")
                try connection.enqueue(SQLQuery("SELECT pg_notify('till_' || current_schema(), $1) IS NULL", [text]))
                try connection.commit()
            }
        }
    }

    /// Listens, and notifies the observers.
    ///
    /// - Parameter listener: Returns the object to notify. The function returns once this is nil.
    private static func listen(at address: PostgreSQLAddress, _ listener: () -> PostgreSQLNotifications?) throws {
        let connection = try PostgreSQLConnection(address)
        let schema: String? = try connection.query(SQLQuery("SELECT current_schema()")).firstValue()
        try connection.script("LISTEN \"till_\((schema ?? "public").replacing("\"", with: "\"\""))\"")
        while listener() != nil {
            let users = try connection.notifications(within: pollInterval)
                .flatMap { $0.split(separator: " ").compactMap { Int64($0) } }
            listener()?.observers.notify(Set(users))
        }
    }
}

/// The address of a ledger in a PostgreSQL database: a URL as libpq reads it (PostgreSQL, 34.1.1.2), with several hosts if
/// there is a standby.
package struct PostgreSQLAddress: Sendable, CustomStringConvertible {
    /// The URL, which may contain a password.
    let url: String
    /// The address without the password, for errors and logs.
    package let description: String

    /// Returns true if a text begins as a PostgreSQL URL does.
    package static func isAddress(_ text: String) -> Bool {
        text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
    }

    /// - Throws: `PostgreSQLAddressError`.
    package init(_ url: String) throws(PostgreSQLAddressError) {
        guard Self.isAddress(url), let options = PQconninfoParse(url, nil) else { throw PostgreSQLAddressError() }
        defer { PQconninfoFree(options) }
        var settings: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            settings[String(cString: keyword)] = option.pointee.val.map { String(cString: $0) }
            option += 1
        }
        let hosts = settings["host", default: ""].split(separator: ",", omittingEmptySubsequences: false)
        let ports = settings["port", default: ""].split(separator: ",", omittingEmptySubsequences: false)
        // An unencoded slash or at sign moves a part of the password into the host or the database, which errors show.
        let database = settings["dbname", default: ""]
        guard !(hosts + [database[...]]).contains(where: { $0.contains("@") }),
            ports.allSatisfy({ $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } })
        else { throw PostgreSQLAddressError() }
        let places = hosts.enumerated().map { index, host in
            let port = ports.count == 1 ? ports[0] : ports.indices.contains(index) ? ports[index] : ""
            return port.isEmpty ? String(host) : "\(host):\(port)"
        }
        self.url = url
        let user = settings["user"].map { "\($0)@" } ?? ""
        description = "postgres://\(user)\(places.joined(separator: ","))/\(database)"
    }
}

/// The error of an invalid PostgreSQL URL. The message does not repeat the URL, which may contain a password.
package struct PostgreSQLAddressError: CodedError, Equatable {
    package init() {}

    package var code: String { "ledgerAddressInvalid" }

    package var message: String {
        "The ledger's address is not a PostgreSQL URL. Use the form postgres://user@host:5432/database, and percent-encode "
            + "special characters."
    }
}
