import GRDB
import Synchronization

/// The pool of the connections that read a ledger's file. It has one connection for each concurrent reader.
///
/// GRDB's own pool finds a connection by queues. That took longer than a query, made threads wait for each other and halved the
/// measured throughput.
final class SQLiteReaders: Sendable {
    private let path: String
    private let configuration: Configuration
    private let tables: LedgerTables
    private let log: WriteAheadLog
    /// The unused connections.
    private let idle = Mutex<[DatabaseQueue]>([])

    init(path: String, configuration: Configuration, tables: LedgerTables, log: WriteAheadLog) {
        self.path = path
        self.tables = tables
        self.log = log
        var configuration = configuration
        configuration.readonly = true
        self.configuration = configuration
    }

    /// Runs `body` with a connection.
    func read<Value>(_ extent: ReadExtent, _ body: (SQLiteDatabase) throws -> Value) throws -> Value {
        let reader = try idle.withLock { $0.popLast() } ?? DatabaseQueue(path: path, configuration: configuration)
        // An error closes the connection, because its cache of the file may be damaged.
        let value = try reader.unsafeRead { database in
            switch extent {
            case .statement: try body(SQLiteDatabase(database: database, tables: tables))
            case .snapshot: try snapshot(of: database, body)
            case .longSnapshot:
                // The transaction itself ends in any case.
                try snapshot(of: database) { connection in try log.endable(database) { try body(connection) } }
            }
        }
        idle.withLock { $0.append(reader) }
        return value
    }

    /// Closes the connections. The writing connection must be the last to close, because it moves the write-ahead log into the
    /// database.
    func close() {
        idle.withLock { $0.removeAll() }
    }

    /// Runs `body` in a read transaction. GRDB's own `read` would prepare `BEGIN` and `COMMIT` again each time.
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
