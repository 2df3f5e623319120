import Foundation
import Proofs
import Vocabulary

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
    private let numbers = UserNumbers()
    let secrets = KnownSecrets()
    /// The names for which the ledger writes nothing.
    package private(set) var blockedNames = BlockedNames.standard

    /// - Parameter randomness: A source of random bytes for the account tokens of users, the salts of erasable texts, and secrets.
    package init(storage: any LedgerStorage, randomness: Randomness) {
        self.storage = storage
        self.randomness = randomness
        commits = GroupCommits(storage)
        reads = ReadThreads(for: storage)
    }

    /// Reads a snapshot. Readers never wait for writers. During the failover of a database server they wait without a thread.
    ///
    /// - Parameters:
    ///   - mayLag: True for an answer about a user that decides nothing. If the caller has stated a position (`LedgerPosition.required`), a
    ///     standby that has it may answer.
    ///   - body: Runs again with the primary if it throws with a standby.
    /// - Throws: The errors of `body`; `StorageFault`; `CancellationError`.
    package func read<Value: Sendable>(
        _ extent: ReadExtent = .snapshot, mayLag: Bool = false,
        _ body: @escaping @Sendable (LedgerTransaction) throws -> Value
    ) async throws -> Value {
        let replicas = mayLag ? storage.replicas : nil
        // The thread of the read has no task.
        let position = replicas == nil ? nil : LedgerPosition.required
        for attempt in 1... {
            do {
                return try await reads.run(isLong: extent == .longSnapshot) {
                    if let replicas, let position,
                        let value = replicas.read(extent, after: position, { try body(transaction($0)) })
                    {
                        return value
                    }
                    return try storage.read(extent) { try body(transaction($0)) }
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
        try await reads.run {
            try storage.read(.statement) { _ = try $0.hasRow(#"SELECT user_id FROM "user" LIMIT 1"#) }
        }
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
        upTo maximumSize: Int, _ answer: @escaping @Sendable ([Request], LedgerTransaction) throws -> [Answer]
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

    /// Adds an observer of each request that was refused because it would have broken what must hold.
    package func observeBreaches(_ observer: @escaping @Sendable (BrokenInvariant) -> Void) {
        commits.observeBreaches(observer)
    }

    /// Adds an observer of the users changed by each commit of this object.
    ///
    /// The commits of another process may go unnoticed. With PostgreSQL, the observing processes notify each other.
    package func observe(_ observer: @escaping @Sendable (Set<Int64>) -> Void) {
        storage.observe(observer)
    }

    /// Adds an observer of the fault after which the ledger answers nothing any more. It is called once.
    package func observeStop(_ observer: @escaping @Sendable (StorageFault) -> Void) {
        storage.observeStop(observer)
    }

    package func blocking(_ names: BlockedNames) -> Ledger {
        var ledger = self
        ledger.blockedNames = names
        return ledger
    }

    package func transaction(_ database: any LedgerDatabase) -> LedgerTransaction {
        LedgerTransaction(
            database: database, randomness: randomness, damaged: storage.damaged, blockedNames: blockedNames,
            numbers: numbers)
    }

    /// Opens the ledger in one SQLite file, and creates the file if it does not exist.
    ///
    /// - Parameters:
    ///   - features: All features. The ledger creates the tables of the features in use.
    ///   - migrates: True if the ledger may create tables and add columns.
    package init(
        file: URL,
        features: [LedgerFeature],
        randomness: Randomness = .system,
        migrates: Bool = true
    ) throws(StorageFault) {
        self.init(
            storage: try SQLiteStorage(file: file, features: features, migrates: migrates), randomness: randomness)
    }

    /// The pause before a refused use case is tried again.
    private static let backgroundRetryDelay = Duration.milliseconds(100)

    /// Runs a use case as `write` does, and waits while too many use cases wait for a commit: purchases come first.
    ///
    /// - Throws: The errors of `useCase`; `StorageFault`; `CancellationError`.
    package func writeInBackground<Value: Sendable>(
        _ useCase: @escaping @Sendable (LedgerTransaction) throws -> Value
    ) async throws -> Value {
        try await Self.retryingWhileOverloaded { try await write(useCase) }
    }

    /// Retries a use case while too many others wait for a commit.
    ///
    /// - Throws: The errors of `useCase`; `CancellationError`.
    package static func retryingWhileOverloaded<Value>(_ useCase: () async throws -> Value) async throws -> Value {
        while true {
            do { return try await useCase() } catch let fault as StorageFault where fault.cause == .overloaded {
                try await Task.sleep(for: backgroundRetryDelay)
            }
        }
    }
}

/// The check of the rules that the constraints of the tables do not enforce.
struct LedgerRules {
    /// The largest number of reported violations of one rule.
    static let maximumReported = 10

    let database: any LedgerDatabase

    /// - Returns: A sentence for each violation.
    func problems() throws -> [String] {
        let present = try database.presentTables()
        let features = database.tables.schema.features.filter { feature in
            feature.tables.allSatisfy { present.contains($0.name) }
        }
        var problems: [String] = []
        for rule in features.flatMap({ $0.tables.flatMap(\.ownRules) + $0.rules }) {
            problems += try database.rows("\(rule.violations) LIMIT \(Self.maximumReported)") { row in
                "\(rule.sentence): \(String(try row.nextValue()) ?? "")."
            }
        }
        for feature in features {
            problems += try feature.check?(database, Self.maximumReported) ?? []
        }
        problems += try AuditRecords(database: database, randomness: .system).breaks(limit: Self.maximumReported).map {
            "The audit log of user \($0.user) was changed at record \($0.number) or before."
        }
        return problems
    }
}

extension Table {
    /// The rules that follow from the description of the table.
    fileprivate var ownRules: [LedgerRule] { [ownerRule].compactMap(\.self) + references.map(rule) }

    /// The rule that each row has the row to which it refers. PostgreSQL does not enforce each foreign key.
    private func rule(_ reference: Reference) -> LedgerRule {
        let pairs = zip(reference.columns, reference.key ?? reference.columns)
        let isSame = pairs.map { "referring.\($0) = referred.\($1)" }.joined(separator: " AND ")
        return (
            "A row of \(name) refers to a missing row of \(reference.table), of user",
            """
            SELECT DISTINCT referring.user_id FROM \(quotedName) AS referring
                LEFT JOIN "\(reference.table)" AS referred ON \(isSame)
            WHERE referred.user_id IS NULL
            """
        )
    }

    /// The rule that each row of a global key has an owner row or an alias of the same user, and vice versa.
    private var ownerRule: LedgerRule? {
        guard let owner else { return nil }
        let columns = key.joined(separator: ", ")
        func rows(_ table: String) -> String { "SELECT \(columns), user_id FROM \"\(table)\"" }
        let owners = ([owner.table] + [aliases].compactMap(\.self)).map(rows)
        let keys = rows(name)
        let differences = [([keys] + owners).joined(separator: " EXCEPT ")] + owners.map { "\($0) EXCEPT \(keys)" }
        return (
            "\(owner.keyName) leads to another \(owner.table)",
            differences.map { "SELECT \(columns) FROM (\($0)) AS single" }.joined(separator: " UNION ALL ")
        )
    }
}

package enum ReadExtent: Sendable {
    /// A few statements that need no transaction, because each is a snapshot by itself.
    case statement
    /// Any number of statements on one snapshot.
    case snapshot
    /// Many rows of one snapshot. A separate thread reads them, so that no request waits for them. In a file, the read fails as
    /// busy if it keeps the write-ahead log from staying within its bound.
    case longSnapshot
}

/// The database of a running ledger: its version and its size.
package struct LedgerState: Hashable, Sendable {
    /// The database and its version: "SQLite 3.46.1".
    package let database: String
    package let version: Int
    /// The size of the database in bytes, without SQLite's write-ahead log.
    package let size: Int64
    /// The approximate number of users, without counting them; nil if the database has no estimate yet.
    package let users: Int64?
}

extension Ledger {
    /// The state of the database. No statement reads many rows.
    package func state() async throws -> LedgerState {
        let dialect = storage.dialect
        return try await read { try $0.state(of: dialect) }
    }

    /// The state of the database server; nil for a ledger in a file.
    package var serverReachability: ServerReachability? { storage.serverReachability }

    /// The standbys that may answer reads; nil for none.
    package var replicas: PostgreSQLReplicas? { storage.replicas }
}

extension LedgerTransaction {
    fileprivate func state(of dialect: SQLDialect) throws -> LedgerState {
        let (name, versionQuery, sizeQuery, usersQuery) =
            switch dialect {
            case .sqlite:
                (
                    "SQLite", "SELECT sqlite_version()",
                    "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
                    // Numbers of users are consecutive, and go on after a reset, which alone deletes users.
                    "SELECT max(user_id) FROM \"user\""
                )
            case .postgreSQL:
                (
                    "PostgreSQL", "SELECT current_setting('server_version')",
                    "SELECT pg_database_size(current_database())",
                    // The planner's estimate; -1 before the first one.
                    "SELECT nullif(reltuples, -1)::bigint FROM pg_class WHERE oid = to_regclass('\"user\"')"
                )
            }
        let version: String = try database.single(versionQuery)
        // A distribution adds its name: "17.2 (Debian 17.2-1)".
        let number = version.prefix { $0 != " " }
        var users = try database.row(usersQuery) { try $0.next() as Int64? } ?? nil
        // SQLite counts by the last number, which goes on after a reset. Neither is there before the first user or the first reset.
        if dialect == .sqlite {
            let former = try database.lastUserBeforeReset()
            users = users.map { $0 - (former ?? 0) } ?? 0
        }
        return LedgerState(
            database: "\(name) \(number)", version: database.tables.schema.version,
            size: try database.single(sizeQuery), users: users)
    }
}

/// The state of a ledger's database server, as its last calls found it.
package struct ServerReachability: Hashable, Sendable {
    package let isReachable: Bool
    /// The time since the server became reachable or unreachable.
    package let time: Duration
    /// The length of the last absence, such as a failover; nil if there was none since the start.
    package let lastAbsence: Duration?
}
