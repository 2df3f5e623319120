import Foundation
import Proofs

/// The durable record of redeemed transactions and of the items that users own, in a SQLite file or in PostgreSQL.
///
/// A use case runs in one transaction. The ledger records all of it or nothing, and it is durable when the call returns. The
/// ledger promises:
/// - A transaction and its original transaction have one owner at a time.
/// - Two concurrent use cases have the same effect as the one after the other.
///
/// Threads, group commits, retries and back-pressure are internal.
package struct Ledger: Sendable {
    package let storage: any LedgerStorage
    private let randomness: Randomness
    private let commits: GroupCommits
    private let reads: ReadThreads
    /// The names for which the ledger writes nothing.
    package private(set) var blockedNames = BlockedNames.standard

    /// - Parameter randomness: A source of random bytes for the account tokens of users, and the salts of erasable texts.
    package init(storage: any LedgerStorage, randomness: Randomness) {
        self.storage = storage
        self.randomness = randomness
        commits = GroupCommits(storage)
        reads = ReadThreads(runsInline: storage.prefersInlineReads)
    }

    /// Reads a snapshot. Readers never wait for writers. During the failover of a database server they wait without a thread.
    ///
    /// - Throws: The errors of `body`; `StorageFault`; `CancellationError`.
    package func read<Value: Sendable>(
        _ extent: ReadExtent = .snapshot,
        _ body: @escaping @Sendable (LedgerTransaction) throws -> Value
    ) async throws -> Value {
        for attempt in 1... {
            do {
                return try await reads.run(isLong: extent == .longSnapshot) {
                    try storage.read(extent) { try body(transaction($0)) }
                }
            } catch  where storage.mayReturn(after: error) {
                // A random pause, so that many readers do not retry at the same time.
                try await Task.sleep(for: .milliseconds(min(attempt, 10) * Int(randomness.bytes(1)[0]) / 5))
            }
        }
        throw storage.damaged
    }

    /// Reads one value. It does not wait for an unreachable database server.
    ///
    /// - Throws: `StorageFault`.
    package func ping() async throws {
        try await reads.run { try storage.read(.statement) { try transaction($0).checkReadable() } }
    }

    /// Runs a use case that writes, and returns when it is durable. Waiting use cases share one commit. If too many wait for the
    /// `CommitPriority` of the task, it is refused.
    ///
    /// - Parameter useCase: Runs again after a conflict with another process. The result of the last run is returned.
    /// - Throws: The errors of `useCase`, which undo its writes; `StorageFault`.
    package func write<Value: Sendable>(
        _ useCase: @escaping @Sendable (LedgerTransaction) throws -> Value
    ) async throws -> Value {
        try await commits.run { try useCase(transaction($0)) }
    }

    /// A queue of requests of one kind. Requests that wait together are read, decided and written together.
    ///
    /// - Parameters:
    ///   - maximumSize: The largest number of requests in one call of `answer`.
    ///   - answer: Returns an answer for each request. If it throws, the ledger retries each half of the requests alone.
    package func batch<Request, Answer>(
        upTo maximumSize: Int,
        _ answer: @escaping @Sendable ([Request], LedgerTransaction) throws -> [Answer]
    ) -> LedgerBatch<Request, Answer> {
        LedgerBatch(commits, upTo: maximumSize) { try answer($0, transaction($1)) }
    }

    /// The number of use cases that wait for a thread or a commit.
    package var waitingCount: Int { commits.waitingCount + reads.waitingCount }

    /// True if a use case of the priority would find a place in the queue of commits.
    package func hasPlace(for priority: CommitPriority) -> Bool { commits.hasPlace(for: priority) }

    /// Adds an observer of the duration of each group commit, including its use cases.
    package func observeCommits(_ observer: @escaping @Sendable (Duration) -> Void) {
        commits.observe(observer)
    }

    /// Adds an observer of the users changed by each commit of this object.
    ///
    /// The commits of another process may go unnoticed. With PostgreSQL, the observing processes notify each other.
    package func observe(_ observer: @escaping @Sendable (Set<Int64>) -> Void) {
        storage.observe(observer)
    }

    /// The same ledger with other blocked names.
    package func blocking(_ names: BlockedNames) -> Ledger {
        var ledger = self
        ledger.blockedNames = names
        return ledger
    }

    package func transaction(_ database: any LedgerDatabase) -> LedgerTransaction {
        LedgerTransaction(
            database: database, randomness: randomness, damaged: storage.damaged, blockedNames: blockedNames)
    }
}

extension Ledger {
    /// Opens the ledger in one SQLite file, and creates the file if it does not exist.
    ///
    /// - Parameters:
    ///   - features: All features. The ledger creates the tables of the features in use.
    ///   - migrates: True if the ledger may create tables and add columns.
    /// - Throws: `StorageFault`.
    package init(
        file: URL,
        features: [LedgerFeature],
        randomness: Randomness = .system,
        migrates: Bool = true
    ) throws(StorageFault) {
        self.init(
            storage: try SQLiteStorage(file: file, features: features, migrates: migrates), randomness: randomness)
    }
}
