import Dispatch
import Foundation
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
                do { try Self.listen(at: address.direct) { self } } catch { Thread.sleep(forTimeInterval: 1) }
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
                connection.begin("READ COMMITTED")
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
