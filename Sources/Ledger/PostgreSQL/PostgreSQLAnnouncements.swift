import Dispatch
import Foundation
import Synchronization

/// Word, among the services on one database, of whom something has happened to (LISTEN and NOTIFY).
///
/// It is said after the commit, by a transaction of its own: within the commit, PostgreSQL would let one such commit follow the
/// other. So it may be lost with the service that says it, or with the line; whoever needs to know for certain looks again.
final class PostgreSQLAnnouncements: Sendable {
    /// PostgreSQL takes 8,000 bytes at once.
    private static let usersAtOnce = 300
    /// How soon the thread that listens sees that nobody needs it any more, in milliseconds.
    private static let patience: Int32 = 500

    private let pool: PostgreSQLPool
    private let observers: ChangeObservers
    private let sender = DispatchQueue(label: "till.announcements")
    /// What is said next; more may be added until then.
    private let waiting = Mutex<Set<Int64>>([])

    init(pool: PostgreSQLPool, address: PostgreSQLAddress, observers: ChangeObservers) {
        self.pool = pool
        self.observers = observers
        Thread.detachNewThread { [weak self] in
            while self != nil {
                // A server that is away is asked again.
                do { try Self.listen(at: address) { self } } catch { Thread.sleep(forTimeInterval: 1) }
            }
        }
    }

    func announce(_ users: Set<Int64>) {
        guard !users.isEmpty else { return }
        let isFirst = waiting.withLock { waiting in
            defer { waiting.formUnion(users) }
            return waiting.isEmpty
        }
        if isFirst { sender.async { [weak self] in self?.say() } }
    }

    private func say() {
        let users = waiting.withLock { waiting in
            defer { waiting = [] }
            return Array(waiting)
        }
        for start in stride(from: 0, to: users.count, by: Self.usersAtOnce) {
            let text = users[start..<min(start + Self.usersAtOnce, users.count)].map(String.init)
                .joined(separator: " ")
            try? pool.withConnection { connection in
                connection.runLater("BEGIN ISOLATION LEVEL READ COMMITTED")
                try connection.queryLater(
                    SQLQuery("SELECT pg_notify('till_' || current_schema(), $1) IS NULL", [text]))
                try connection.commit()
            }
        }
    }

    /// - Parameter listener: Who is to know; nil when nobody is any more, and then this ends.
    private static func listen(
        at address: PostgreSQLAddress,
        _ listener: () -> PostgreSQLAnnouncements?
    ) throws {
        let connection = try PostgreSQLConnection(address)
        let row = try connection.query(SQLQuery("SELECT current_schema() AS schema")).rows.first
        let schema: String = try row?["schema"] ?? "public"
        try connection.script("LISTEN \"till_\(schema.replacing("\"", with: "\"\""))\"")
        while listener() != nil {
            let users = try connection.notifications(within: patience)
                .flatMap { $0.split(separator: " ").compactMap { Int64($0) } }
            listener()?.observers.tell(Set(users))
        }
    }
}
