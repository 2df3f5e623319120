import GRDB
import Synchronization

/// The connections that read a ledger's file, each used by one at a time; as many as there were readers at once.
///
/// GRDB's own pool goes through queues to find a connection, which took longer than a question and let two threads wait for
/// each other (half the requests in a second, measured).
final class SQLiteReaders: Sendable {
    private let path: String
    private let configuration: Configuration
    private let tables: LedgerTables
    /// Those that nobody uses.
    private let idle = Mutex<[DatabaseQueue]>([])

    init(path: String, configuration: Configuration, tables: LedgerTables) {
        self.path = path
        self.tables = tables
        var configuration = configuration
        configuration.readonly = true
        self.configuration = configuration
    }

    /// As of one moment.
    func read<Value>(_ extent: ReadExtent, _ body: (SQLiteDatabase) throws -> Value) throws -> Value {
        let reader = try idle.withLock { $0.popLast() } ?? DatabaseQueue(path: path, configuration: configuration)
        // After an error it is closed: what it remembers of the file may be what was wrong.
        let value = try reader.unsafeRead { database in
            switch extent {
            case .statement: try body(SQLiteDatabase(database: database, tables: tables))
            case .snapshot, .longSnapshot: try snapshot(of: database, body)
            }
        }
        idle.withLock { $0.append(reader) }
        return value
    }

    /// Before the connection that writes: the last to be closed moves the log into the database, which a reader cannot.
    func close() {
        idle.withLock { $0.removeAll() }
    }

    /// GRDB's own `read` would prepare anew what begins and ends it.
    private func snapshot<Value>(of database: Database, _ body: (SQLiteDatabase) throws -> Value) throws -> Value {
        let connection = SQLiteDatabase(database: database, tables: tables)
        try connection.write("BEGIN DEFERRED", [])
        do {
            let value = try body(connection)
            try connection.write("COMMIT", [])
            return value
        } catch {
            if database.isInsideTransaction { try? connection.write("ROLLBACK", []) }
            throw error
        }
    }
}
