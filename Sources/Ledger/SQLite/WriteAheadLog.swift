import GRDB
import GRDBSQLite
import Synchronization

/// The pages of a ledger's write-ahead log, and the checkpoints that bound their number.
///
/// A checkpoint moves only what no reader needs. Long reads therefore end once the log reaches its bound. They go on while a reader
/// of another process holds the log.
final class WriteAheadLog: Sendable {
    /// The number of new pages after which a checkpoint moves them into the database.
    private static let pagesPerCheckpoint = 1000
    /// The largest number of pages that a checkpoint leaves in the file.
    private static let maximumKeptPages = 4000
    /// The number of pages beyond which long reads end: 64 MiB in pages of 4 KiB.
    private static let maximumPages = 16_384
    /// The longest wait for readers before the file is emptied, in milliseconds. Commits wait meanwhile.
    private static let truncationTimeout: Int32 = 50
    /// The number of instructions of SQLite after which a long read checks whether it is ended.
    private static let instructionsPerCheck: Int32 = 1000

    /// The number of pages at the last commit. The pages of other processes count, too.
    private let pages = Atomic(0)
    private let pagesAtCheckpoint = Atomic(0)
    /// The number of times that all long reads were ended.
    private let endings = Atomic(0)
    /// The number of pages that were moved when all long reads were last ended. Nil since the log began anew.
    private let movedAtEnding = Mutex<Int?>(nil)

    /// Counts the pages at each commit of a connection.
    ///
    /// - Parameter database: Does not commit after the end of this object.
    func observe(_ database: Database) throws {
        // SQLite cuts a longer file when the log begins anew.
        try database.execute(sql: "PRAGMA journal_size_limit = \(Self.maximumKeptPages * 4096)")
        sqlite3_wal_hook(
            database.sqliteConnection,
            { log, _, _, pages in
                if let log {
                    Unmanaged<WriteAheadLog>.fromOpaque(log).takeUnretainedValue()
                        .pages.store(Int(pages), ordering: .relaxed)
                }
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Returns true once after each growth by a number of pages.
    func isCheckpointDue() -> Bool {
        let pages = pages.load(ordering: .relaxed)
        // The log begins anew after a checkpoint of all pages.
        if pages < pagesAtCheckpoint.load(ordering: .relaxed) {
            pagesAtCheckpoint.store(0, ordering: .relaxed)
            movedAtEnding.withLock { $0 = nil }
        }
        guard pages - pagesAtCheckpoint.load(ordering: .relaxed) >= Self.pagesPerCheckpoint else { return false }
        pagesAtCheckpoint.store(pages, ordering: .relaxed)
        return true
    }

    /// Moves pages into the database, and empties the file of a long log. Pages that readers still use stay in the log.
    ///
    /// - Parameter busyTimeout: The connection's usual wait for other processes, in milliseconds.
    /// - Throws: `DatabaseError`, also if readers keep the log from being emptied.
    func checkpoint(_ database: Database, busyTimeout: Int32) throws {
        let pages = pages.load(ordering: .relaxed)
        guard pages > Self.maximumKeptPages else {
            try database.checkpoint(.passive)
            return
        }
        if pages > Self.maximumPages {
            // No page was moved since the last ending if another process holds the log.
            let moved = try database.checkpoint(.passive).checkpointedFrameCount
            let isHeldByOther = movedAtEnding.withLock { last in
                defer { last = moved }
                return last == moved
            }
            if !isHeldByOther { endings.add(1, ordering: .relaxed) }
        }
        sqlite3_busy_timeout(database.sqliteConnection, Self.truncationTimeout)
        defer { sqlite3_busy_timeout(database.sqliteConnection, busyTimeout) }
        try database.checkpoint(.truncate)
        movedAtEnding.withLock { $0 = nil }
    }

    /// Runs a long read, which fails as interrupted once the log exceeds its bound.
    func endable<Value>(_ database: Database, _ body: () throws -> Value) rethrows -> Value {
        let read = LongRead(of: self)
        sqlite3_progress_handler(
            database.sqliteConnection, Self.instructionsPerCheck,
            { read in
                guard let read else { return 0 }
                return Unmanaged<LongRead>.fromOpaque(read).takeUnretainedValue().isEnded ? 1 : 0
            }, Unmanaged.passUnretained(read).toOpaque())
        defer { sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil) }
        return try withExtendedLifetime(read) { try body() }
    }

    private final class LongRead {
        private let log: WriteAheadLog
        private let endings: Int

        init(of log: WriteAheadLog) {
            self.log = log
            endings = log.endings.load(ordering: .relaxed)
        }

        var isEnded: Bool { log.endings.load(ordering: .relaxed) != endings }
    }
}
