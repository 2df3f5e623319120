import Dispatch
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The write-ahead log of a ledger in a file, while reads run.
@Suite(.enabled(if: LedgerFixture.isFile)) struct WriteAheadLogTests: LedgerSuite {
    private static let bound = 64 << 20
    /// The largest file that a checkpoint leaves: 4,000 pages.
    private static let kept = 4000 * 4120 + 32
    /// One statement that takes minutes.
    private static let longStatement = statement(rows: 3_000_000_000)

    private static func statement(rows: Int) -> String {
        """
        WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter LIMIT \(rows))
        SELECT count(*) AS n FROM counter
        """
    }

    /// The error of a read that is ended.
    private var busy: StorageFault { StorageFault(cause: .busy, path: folder.file("ledger.sqlite").path) }

    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
        try fixture.ledger.writeNow {
            try $0.database.write("CREATE TABLE filler (id INTEGER PRIMARY KEY, bytes BLOB)", [])
        }
    }

    /// The size of the log's file in bytes.
    private var size: Int {
        get throws {
            let log = folder.file("ledger.sqlite-wal").path
            return try #require(FileManager.default.attributesOfItem(atPath: log)[.size] as? Int)
        }
    }

    /// Writes at least 1,000 pages in one commit.
    private func fill() throws {
        try ledger.writeNow {
            try $0.database.write("INSERT OR REPLACE INTO filler (id, bytes) VALUES (1, zeroblob(4194304))", [])
        }
    }

    /// Starts a long read, and returns when it has its snapshot. It has a thread of its own: on two cores, two long reads would
    /// leave no thread of the pool to the short reads of the other tests, which would wait for each other.
    private func begin<Value: Sendable>(
        on ledger: Ledger,
        _ body: @escaping @Sendable (LedgerTransaction) throws -> Value
    ) async -> Task<Value, any Error> {
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let read = Task {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(
                        with: Result {
                            try ledger.storage.read(.longSnapshot) { database in
                                _ = try database.hasRow("SELECT count(*) FROM filler")
                                begin.finish()
                                return try body(ledger.transaction(database))
                            }
                        })
                }
            }
        }
        for await _ in begun {}
        return read
    }

    @Test func `the file is emptied after many commits`() throws {
        var largest = 0
        for _ in 0..<12 {
            try fill()
            largest = max(largest, try size)
        }
        #expect(largest < Self.bound / 2, "\(largest)")
    }

    @Test(.timeLimit(.minutes(5))) func `a read that outlasts the bound of the log ends as busy`() async throws {
        let read = await begin(on: ledger) { try $0.database.rows(Self.longStatement) { _ in }.count }
        var (largest, commits) = (0, 0)
        while try size >= largest, commits < 64 {
            largest = try size
            try fill()
            commits += 1
            // Short reads go on.
            _ = try await ledger.read { try $0.items(of: alice, at: Self.now) }
        }
        #expect(largest > Self.bound / 2)
        #expect(try size <= Self.kept, "\(commits) commits")
        await #expect(throws: busy) { _ = try await read.value }
        // The next long read is not ended.
        let next = try await ledger.read(.longSnapshot) { try $0.database.rows("SELECT id FROM filler") { _ in }.count }
        #expect(next == 1)
    }

    /// Other processes, such as a backup, read as long as they need.
    @Test func `the log of a reader in another process is emptied after its end`() async throws {
        let end = DispatchSemaphore(value: 0)
        let read = await begin(on: try fixture.again()) { transaction in
            end.wait()
            return try transaction.database.rows("SELECT id FROM filler") { _ in }.count
        }
        for _ in 0..<12 { try fill() }
        #expect(try size > Self.bound)
        end.signal()
        // The snapshot is from before the commits.
        #expect(try await read.value == 0)
        try fill()
        #expect(try size <= Self.kept)
    }

    /// To end the long reads of this process again and again would not shorten the log.
    @Test(.timeLimit(.minutes(5))) func `a reader in another process ends no long read that begins later`() async throws
    {
        let end = DispatchSemaphore(value: 0)
        let other = await begin(on: try fixture.again()) { _ in end.wait() }
        let first = await begin(on: ledger) { try $0.database.rows(Self.longStatement) { _ in }.count }
        for _ in 0..<20 { try fill() }
        #expect(try size > Self.bound)
        await #expect(throws: busy) { _ = try await first.value }
        let growth = DispatchSemaphore(value: 0)
        let later = await begin(on: ledger) { transaction in
            growth.wait()
            return try transaction.database.rows(Self.statement(rows: 100_000)) { _ in }.count
        }
        for _ in 0..<4 { try fill() }
        growth.signal()
        #expect(try await later.value == 1)
        // The last read alone holds the log after the end of the other process's.
        let last = await begin(on: ledger) { try $0.database.rows(Self.longStatement) { _ in }.count }
        end.signal()
        try await other.value
        try fill()
        await #expect(throws: busy) { _ = try await last.value }
        try fill()
        #expect(try size <= Self.kept)
    }
}
