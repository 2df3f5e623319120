import Proofs
import Synchronization

/// The version of a ledger in a PostgreSQL database.
enum PostgreSQLSchema {
    /// The advisory lock of the processes that prepare a ledger.
    private static let lock: Int64 = 0x7469_6c6c

    /// Creates the missing tables of the features in use, and adds the columns that a ledger of an earlier version lacks.
    ///
    /// - Returns: The reason why the ledger cannot be used; nil if it can.
    static func prepare(
        _ connection: PostgreSQLConnection, _ schema: LedgerSchema, migrates: Bool
    ) throws -> StorageFault.Cause? {
        try begin(connection)
        let present = try connection.presentTables()
        var version = 0
        if present.contains("ledger_schema") {
            version = try connection.query(SQLQuery("SELECT max(version) FROM ledger_schema")).firstValue() ?? 0
        }
        let isComplete = version == schema.version && schema.missing(from: present).isEmpty
        let mayComplete = migrates && !isComplete && version <= schema.version
        if mayComplete {
            let isDistributed = try connection.isDistributed()
            let statements =
                (version == 0 ? [additionalTables] : [])
                + schema.completion(of: version, with: present, in: .postgreSQL, isDistributed: isDistributed)
            // Citus sends each whole text to the workers, which run one statement of it.
            for script in isDistributed ? statements : [statements.joined(separator: "\n")] {
                try connection.script(script)
            }
            try connection.enqueue(
                SQLQuery("INSERT INTO ledger_schema (version) VALUES ($1) ON CONFLICT DO NOTHING", [schema.version]))
        }
        try connection.commit()
        if version > schema.version { return .otherVersion }
        return isComplete || mayComplete ? nil : .missing
    }

    /// Begins the transaction of a process that prepares a ledger. No other process prepares it before the transaction ends.
    static func begin(_ connection: PostgreSQLConnection) throws {
        connection.enqueue("BEGIN ISOLATION LEVEL READ COMMITTED")
        _ = try connection.query(SQLQuery("SELECT pg_advisory_xact_lock($1) IS NULL", [lock]))
    }

    /// The tables that only a ledger in PostgreSQL has: its version, and the tokens of its commits.
    private static let additionalTables = """
        CREATE TABLE ledger_schema (version BIGINT PRIMARY KEY);

        CREATE TABLE ledger_commit (
            token BYTEA PRIMARY KEY,
            is_committed SMALLINT NOT NULL,
            committed_at TIMESTAMPTZ NOT NULL DEFAULT now()
        );


        """
}

extension PostgreSQLConnection {
    /// The names of the tables in the ledger's schema. Other applications may use other schemas of the database.
    func presentTables() throws -> Set<String> {
        let sql = """
            SELECT relname::text AS name FROM pg_class WHERE relkind IN ('r', 'p') AND pg_table_is_visible(oid)
                AND relnamespace = coalesce(
                    (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('ledger_schema')),
                    to_regnamespace(quote_ident(current_schema()::text)))
            """
        var names: Set<String> = []
        try query(SQLQuery(sql)).forEachRow { names.insert(try $0.next()) }
        return names
    }
}

/// The absence of a database server. Callers wait for the server during its first seconds, as long as a failover takes.
final class ServerAbsence: Sendable {
    private static let timeout = Duration.seconds(20)

    private struct State {
        /// The first failure since the server was last reached; nil while it is reached.
        var beganAt: ContinuousClock.Instant?
        /// The end of the last absence, or the first connection.
        var reachedAt = ContinuousClock.now
        /// The length of the last absence; nil if there was none.
        var lastAbsence: Duration?
    }

    private let state = Mutex(State())

    /// True if the server is reachable, or may return soon.
    var isShort: Bool {
        state.withLock { $0.beganAt.map { ContinuousClock.now < $0 + Self.timeout } ?? true }
    }

    func begin() { state.withLock { $0.beganAt = $0.beganAt ?? .now } }

    func end() {
        state.withLock { state in
            guard let beganAt = state.beganAt else { return }
            let now = ContinuousClock.now
            state.lastAbsence = now - beganAt
            state.reachedAt = now
            state.beganAt = nil
        }
    }

    /// The present state of the server.
    var reachability: ServerReachability {
        state.withLock { state in
            ServerReachability(
                isReachable: state.beganAt == nil, time: ContinuousClock.now - (state.beganAt ?? state.reachedAt),
                lastAbsence: state.lastAbsence)
        }
    }
}
