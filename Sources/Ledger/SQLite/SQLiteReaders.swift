import Foundation
import GRDB
import Proofs
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

/// The version of a ledger in a SQLite file: its `user_version`.
enum SQLiteSchema {
    /// Refuses a file of another version, and changes no byte of it.
    ///
    /// - Throws: `StorageFault`. A file that cannot be read passes: the opening for writing reports its fault.
    static func checkVersion(of file: URL, _ schema: LedgerSchema) throws(StorageFault) {
        var configuration = Configuration()
        configuration.readonly = true
        guard let database = try? DatabaseQueue(path: file.path, configuration: configuration) else { return }
        let isOther = try? database.read { try isOfOtherVersion($0, schema) }
        try? database.close()
        if isOther == true { throw StorageFault(cause: .otherVersion, path: file.path) }
    }

    private static func isOfOtherVersion(_ database: Database, _ schema: LedgerSchema) throws -> Bool {
        let version = try version(of: database)
        return version > 0 ? version > schema.version : try !tables(of: database).isEmpty
    }

    /// The version of a ledger; 0 if there is none.
    static func version(of database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    }

    /// Creates the missing tables of the features in use, and adds the columns that a ledger of an earlier version lacks.
    ///
    /// - Returns: The reason why the ledger cannot be used; nil if it can.
    static func prepare(_ database: Database, _ schema: LedgerSchema, migrates: Bool) throws -> StorageFault.Cause? {
        guard try !isOfOtherVersion(database, schema) else { return .otherVersion }
        let (version, present) = (try version(of: database), try tables(of: database))
        if version == schema.version, schema.missing(from: present).isEmpty { return nil }
        guard migrates else { return .missing }
        try database.execute(
            sql: schema.completion(of: version, with: present, in: .sqlite).joined(separator: "\n"))
        try database.execute(sql: "PRAGMA user_version = \(schema.version)")
        return nil
    }

    private static func tables(of database: Database) throws -> Set<String> {
        try String.fetchSet(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
    }
}
