import Commerce
import Foundation
import Signatures

/// The durable record of who redeemed which transaction and owns what because of it, in a SQLite file or in PostgreSQL.
///
/// A use case runs in one transaction: all of it is recorded or none, and it is durable when the call returns. The ledger
/// promises:
/// - a transaction, and the original transaction that it belongs to, has one owner at a time;
/// - two use cases at once end as if one had come after the other.
///
/// Threads, group commits, retries and back-pressure are internal.
public struct Ledger: Sendable {
    package let storage: any LedgerStorage
    private let randomness: Randomness
    private let commits: GroupCommits
    private let reads: ReadThreads

    /// - Parameter randomness: A source of random bytes for the account tokens of users, and the salts of erasable texts.
    package init(storage: any LedgerStorage, randomness: Randomness) {
        self.storage = storage
        self.randomness = randomness
        commits = GroupCommits(storage)
        reads = ReadThreads(runsInline: storage.prefersInlineReads)
    }

    /// Reads as of one moment. Readers never wait for writers. They wait for the failover of a database server, without a
    /// thread.
    ///
    /// - Throws: The errors of `body`; `StorageFault`; `CancellationError`.
    public func read<Value: Sendable>(
        _ extent: ReadExtent = .snapshot,
        _ body: @escaping @Sendable (LedgerTransaction) throws -> Value
    ) async throws -> Value {
        for attempt in 1... {
            do {
                return try await reads.run(isLong: extent == .longSnapshot) {
                    try storage.read(extent) { try body(transaction($0)) }
                }
            } catch  where storage.mayReturn(after: error) {
                // By chance, so that many readers do not try at the same time.
                try await Task.sleep(for: .milliseconds(min(attempt, 10) * Int(randomness.bytes(1)[0]) / 5))
            }
        }
        throw storage.damaged
    }

    /// Reads the smallest answer, without waiting for a database server that is away.
    ///
    /// - Throws: `StorageFault`.
    public func ping() async throws {
        try await reads.run { try storage.read(.statement) { try transaction($0).checkReadable() } }
    }

    /// Runs a use case that writes, in one commit with others that wait, and returns when it is durable.
    ///
    /// - Parameter useCase: Runs again after a conflict with another process. The result of the last run is returned.
    /// - Throws: The errors of `useCase`, which undo all that it wrote; `StorageFault`.
    public func write<Value: Sendable>(
        _ useCase: @escaping @Sendable (LedgerTransaction) throws -> Value
    ) async throws -> Value {
        try await commits.run { try useCase(transaction($0)) }
    }

    /// A kind of requests that are read, decided and written together if they wait together.
    ///
    /// - Parameters:
    ///   - maximumSize: The largest number of requests that are answered together.
    ///   - answer: Returns an answer for each request. If it throws, each half of the requests is tried alone.
    public func batch<Request, Answer>(
        upTo maximumSize: Int,
        _ answer: @escaping @Sendable ([Request], LedgerTransaction) throws -> [Answer]
    ) -> LedgerBatch<Request, Answer> {
        LedgerBatch(commits, upTo: maximumSize) { try answer($0, transaction($1)) }
    }

    /// The number of use cases that wait for a thread or a commit.
    public var waitingCount: Int { commits.waitingCount + reads.waitingCount }

    /// Adds an observer of the time of each group commit, its use cases included.
    public func observeCommits(_ observer: @escaping @Sendable (Duration) -> Void) {
        commits.observe(observer)
    }

    /// Adds an observer of the users changed by each commit of this object.
    ///
    /// The commits of another process may go unnoticed. In PostgreSQL, the observing processes notify each other.
    public func observe(_ observer: @escaping @Sendable (Set<Int64>) -> Void) {
        storage.observe(observer)
    }

    package func transaction(_ database: any LedgerDatabase) -> LedgerTransaction {
        LedgerTransaction(database: database, randomness: randomness, damaged: storage.damaged)
    }
}

extension Ledger {
    /// Opens the ledger in one SQLite file, and makes the file if there is none.
    ///
    /// - Parameters:
    ///   - features: All features there are; the tables of those in use are made.
    ///   - takesOver: Whether a ledger of an earlier version is converted to this version.
    /// - Throws: `StorageFault`.
    package init(
        file: URL,
        features: [LedgerFeature],
        randomness: Randomness = .system,
        takesOver: Bool = true
    ) throws(StorageFault) {
        self.init(
            storage: try SQLiteStorage(file: file, features: features, takesOver: takesOver), randomness: randomness)
    }
}
