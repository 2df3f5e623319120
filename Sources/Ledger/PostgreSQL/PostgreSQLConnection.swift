import CPostgreSQL

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A connection to a PostgreSQL server with its prepared statements, for one caller at a time.
///
/// A statement may wait for the next one. The connection sends both together, which saves a round trip (libpq's pipeline mode).
final class PostgreSQLConnection {
    /// The state of the connection. Only an idle connection is ready for a transaction.
    enum State {
        case idle
        case inTransaction
        case broken
    }

    /// The connection of libpq. Only `deinit` frees it.
    let handle: OpaquePointer
    /// True after a warning of the server. Only `deinit` frees it.
    private let hasWarned: UnsafeMutablePointer<Bool>
    /// The names of the prepared statements, by their SQL.
    private var prepared: [String: String] = [:]
    /// The number in the last name of a prepared statement.
    private var lastName = 0
    private var waiting: [PostgreSQLCommand] = []
    let changed = ChangedUsers()
    /// The position of the present transaction's commit; nil for a ledger without standbys.
    var position: LedgerPosition?
    /// The tables that the present caller's transaction has found; nil before it asks.
    var foundTables: Set<String>?
    /// True if transactions through a pooler set what the role and the server leave otherwise.
    private var needsSettings = false
    /// True if the database has the extension `citus`, which may distribute the tables.
    private(set) var hasCitus = false
    /// The place of the requirement among the waiting commands; nil without one.
    private var requirement: Int?
    /// True until the connection has received the answer to the end of a read.
    private var isEnding = false
    /// True if the machine at the other end is gone. libpq would wait for it.
    private var isLost = false
    /// True if a pooler gives each transaction another session. Then each brings its settings, and no statement has a name.
    let isPooled: Bool
    private let isOfStandby: Bool
    /// The rows of prefetched queries, until the next other statement.
    private var known: [SQLQuery: PostgreSQLResult] = [:]
    /// The largest number of commands sent before their answers are read. More could block both sides.
    private static let maximumWaiting = 64
    /// The silence of a server after which it is asked for another connection, at first and later, in milliseconds.
    private static let (firstSilence, laterSilence): (Int32, Int32) = (800, 3000)
    /// The silence after which a standby counts as lost, in milliseconds.
    private static let standbySilence: Int32 = 2000

    /// Connects to the primary, or to a standby, among the hosts of an address.
    ///
    /// The connection fails within two seconds after a machine has disappeared. It waits for a reachable server that waits
    /// itself, for its standby for example.
    ///
    /// - Parameters:
    ///   - server: The server of the address to connect to; nil for the first that is a primary.
    ///   - timeout: The time for a server with one host; nil for that of the address.
    ///   - ofStandby: True for the first standby instead of the primary.
    init(
        _ address: PostgreSQLAddress, at server: PostgreSQLServer? = nil, within timeout: Duration? = nil,
        ofStandby: Bool = false
    ) throws(PostgreSQLFailure) {
        handle = try PostgreSQLSession.connection(to: address, at: server, within: timeout, ofStandby: ofStandby)
        isPooled = address.isPooled
        isOfStandby = ofStandby
        hasWarned = .allocate(capacity: 1)
        hasWarned.initialize(to: false)
        guard PQstatus(handle) == CONNECTION_OK else {
            throw PostgreSQLFailure(connecting: address, String(cString: PQerrorMessage(handle)))
        }
        // `commit` needs only the fact that there was a warning.
        _ = PQsetNoticeReceiver(
            handle,
            { flag, result in
                guard PQresultErrorField(result, Int32(UInt8(ascii: "V"))).map({ String(cString: $0) }) == "WARNING"
                else { return }
                flag?.assumingMemoryBound(to: Bool.self).pointee = true
            }, hasWarned)
        if isPooled { needsSettings = try script(PostgreSQLSession.lacksSettings) != "f" }
        hasCitus = try script((isPooled ? "" : PostgreSQLSession.settings) + PostgreSQLSession.hasCitus) == "t"
    }

    deinit {
        PQfinish(handle)
        hasWarned.deallocate()
    }

    var server: PostgreSQLServer? {
        guard let host = PQhost(handle), let port = PQport(handle) else { return nil }
        return PostgreSQLServer(host: String(cString: host), port: String(cString: port))
    }

    var state: State {
        guard !isBroken else { return .broken }
        if isEnding { return waiting.isEmpty ? .idle : .inTransaction }
        return PQtransactionStatus(handle) == PQTRANS_IDLE && waiting.isEmpty ? .idle : .inTransaction
    }

    /// Returns true if the server is another process than the client was told, as behind pgbouncer (its issue 1296).
    func isBehindPooler() throws(PostgreSQLFailure) -> Bool {
        try script("SELECT pg_backend_pid()") != String(PQbackendPID(handle))
    }

    private var isBroken: Bool { isLost || PQstatus(handle) != CONNECTION_OK }

    /// Begins a transaction together with the next statement.
    ///
    /// - Parameter mode: Its isolation level and access mode.
    func begin(_ mode: String) {
        enqueue("BEGIN ISOLATION LEVEL \(mode)")
        if needsSettings { waiting.append(.run(PostgreSQLSession.localSettings)) }
    }

    /// Runs any number of statements without arguments, outside the pipeline.
    ///
    /// - Returns: The text of the last statement's first value; nil without rows.
    @discardableResult func script(_ sql: String) throws(PostgreSQLFailure) -> String? {
        guard PQexitPipelineMode(handle) == 1 else { throw PostgreSQLFailure(state: nil) }
        // A busy primary may take long for the tables of a new ledger. No other server could make them.
        let result = try isOfStandby ? lastResult(of: sql) : PQexec(handle, sql)
        defer { PQclear(result) }
        guard let result, [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            throw failure(result)
        }
        guard PQenterPipelineMode(handle) == 1 else { throw PostgreSQLFailure(state: nil) }
        return PQntuples(result) > 0 ? String(cString: PQgetvalue(result, 0, 0)) : nil
    }

    /// Runs statements as `PQexec` does, but waits no longer than for any answer of a standby.
    ///
    /// - Returns: The result of the last statement, which the caller frees; nil without one.
    private func lastResult(of sql: String) throws(PostgreSQLFailure) -> OpaquePointer? {
        guard PQsendQuery(handle, sql) == 1 else { throw failure(nil) }
        var last: OpaquePointer?
        while true {
            do {
                try awaitResult()
            } catch {
                PQclear(last)
                throw error
            }
            guard let next = PQgetResult(handle) else { return last }
            PQclear(last)
            last = next
        }
    }

    /// Sends a statement without arguments together with the next one.
    func enqueue(_ sql: String) {
        known.removeAll()
        waiting.append(.run(sql))
    }

    /// Sends a query together with the next statement, and discards its rows.
    func enqueue(_ query: SQLQuery) throws(PostgreSQLFailure) {
        known.removeAll()
        waiting += commands(query)
        if waiting.count >= Self.maximumWaiting { _ = try exchange() }
    }

    /// Sends a query together with the next statement, which fails if the query's value is not null. The value is the reason.
    func require(_ query: SQLQuery) {
        known.removeAll()
        waiting += commands(query)
        requirement = waiting.count - 1
    }

    /// Runs queries in one round trip, and keeps their rows until the next write.
    func prefetch(_ queries: [SQLQuery]) throws(PostgreSQLFailure) {
        let queries = queries.filter { known[$0] == nil }
        guard !queries.isEmpty else { return }
        if waiting.count + 2 * queries.count > Self.maximumWaiting { _ = try exchange() }
        var places: [Int] = []
        for query in queries {
            waiting += commands(query)
            places.append(waiting.count - 1)
        }
        let results = try exchange()
        for (query, place) in zip(queries, places) { known[query] = results[place] }
    }

    /// - Throws: `PostgreSQLFailure`, also if the server has sent no answer.
    func query(_ query: SQLQuery) throws(PostgreSQLFailure) -> PostgreSQLResult {
        if let result = known[query] { return result }
        if !query.sql.hasPrefix("SELECT") { known.removeAll() }
        waiting += commands(query)
        guard let result = try exchange().last else { throw PostgreSQLFailure(state: nil) }
        return result
    }

    /// Sends waiting writes now, so that their error reaches the part that made them.
    func flush() throws(PostgreSQLFailure) {
        let isWriting = waiting.contains { command in
            switch command {
            case .execute, .runOnce: true
            case .prepare, .run: false
            }
        }
        if isWriting { _ = try exchange() }
    }

    /// Commits the transaction, and returns when it is durable, also on the standby if the server waits for one.
    ///
    /// - Throws: `PostgreSQLFailure`. If the connection is lost (`isConnectionLost`), the transaction may have been committed.
    func commit() throws(PostgreSQLFailure) {
        hasWarned.pointee = false
        known.removeAll()
        waiting.append(.run("COMMIT"))
        // A transaction that has failed answers a COMMIT with ROLLBACK.
        guard try exchange().last?.tag == "COMMIT" else { throw PostgreSQLFailure(state: "25P02") }
        // A warning means that the wait for the standby was cancelled: the commit may be lost with this server.
        guard !hasWarned.pointee else { throw PostgreSQLFailure(state: "01000") }
    }

    /// Ends a transaction that only reads, without waiting for the answer. The next use of the connection reads the answer.
    func endRead() throws(PostgreSQLFailure) {
        known.removeAll()
        // The answer to the previous COMMIT is still unread, so this transaction has sent nothing yet.
        guard !isEnding else {
            waiting.removeAll()
            return
        }
        try flush()
        waiting.removeAll()
        guard send(.run("COMMIT")) == 1, PQpipelineSync(handle) == 1 else { throw failure(nil) }
        isEnding = true
    }

    func rollBack() throws(PostgreSQLFailure) {
        known.removeAll()
        waiting.removeAll()
        requirement = nil
        waiting.append(.run("ROLLBACK"))
        _ = try exchange()
    }

    func rollBackToSavepoint(_ name: String) {
        enqueue("ROLLBACK TO \(name)")
        enqueue("RELEASE \(name)")
    }

    private func commands(_ query: SQLQuery) -> [PostgreSQLCommand] {
        // The next transaction may run in a session that does not know the name.
        if isPooled { return [.runOnce(sql: query.sql, arguments: query.arguments)] }
        if let name = prepared[query.sql] { return [.execute(name: name, arguments: query.arguments)] }
        for case .prepare(let name, query.sql) in waiting {
            return [.execute(name: name, arguments: query.arguments)]
        }
        lastName += 1
        let name = "s\(lastName)"
        return [.prepare(name: name, sql: query.sql), .execute(name: name, arguments: query.arguments)]
    }

    /// Sends the waiting commands.
    ///
    /// - Returns: The answer to each command.
    private func exchange() throws(PostgreSQLFailure) -> [PostgreSQLResult] {
        let (commands, required) = (waiting, requirement)
        waiting.removeAll(keepingCapacity: true)
        requirement = nil
        for command in commands {
            guard send(command) == 1 else { throw failure(nil) }
        }
        guard PQpipelineSync(handle) == 1 else { throw failure(nil) }
        if isEnding {
            isEnding = false
            _ = try answer()
            try readSync()
        }
        var results: [PostgreSQLResult] = []
        var refusal: PostgreSQLFailure?
        for command in commands {
            do throws(PostgreSQLFailure) {
                results.append(try answer())
                if case .prepare(let name, let sql) = command { prepared[sql] = name }
            } catch {
                if isBroken { throw refusal ?? error }
                // The server skips the commands after the first failure.
                refusal = refusal ?? error
            }
        }
        try readSync()
        if let refusal { throw refusal }
        if let required, case .text(let reason)? = results[required].value(0, 0) {
            throw PostgreSQLFailure(state: "", reason: reason)
        }
        return results
    }

    /// Reads the end of the answers to a pipeline.
    private func readSync() throws(PostgreSQLFailure) {
        try awaitResult()
        let end = PQgetResult(handle)
        defer { PQclear(end) }
        // A server that closes the connection may report this instead, after it has run all commands.
        guard let end, PQresultStatus(end) == PGRES_PIPELINE_SYNC else { throw PostgreSQLFailure(state: nil) }
    }

    private func send(_ command: PostgreSQLCommand) -> Int32 {
        switch command {
        case .prepare(let name, let sql): PQsendPrepare(handle, name, sql, 0, nil)
        case .runOnce(let sql, let arguments):
            PostgreSQLArguments(arguments).withPointers { count, values, lengths, formats in
                PQsendQueryParams(handle, sql, count, nil, values, lengths, formats, 1)
            }
        case .run(let sql): PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1)
        case .execute(let name, let arguments):
            PostgreSQLArguments(arguments).withPointers { count, values, lengths, formats in
                PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
            }
        }
    }

    /// The answer to one command.
    private func answer() throws(PostgreSQLFailure) -> PostgreSQLResult {
        try awaitResult()
        let result = PQgetResult(handle)
        // A null result ends each answer.
        defer { PQclear(PQgetResult(handle)) }
        guard let result, [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            defer { PQclear(result) }
            throw failure(result)
        }
        return PostgreSQLResult(result)
    }

    /// Waits for the next result.
    ///
    /// A statement may take long, and so may the wait for a standby. So a silent server is asked for another connection now and
    /// then: libpq itself would wait for a machine that is gone until the system gives up. A silent standby is not asked, because its
    /// disk or a process may hang while others of its processes answer, and the primary can answer the read.
    private func awaitResult() throws(PostgreSQLFailure) {
        var patience = isOfStandby ? Self.standbySilence : Self.firstSilence
        while PQisBusy(handle) == 1 {
            var line = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
            if poll(&line, 1, patience) == 0 {
                guard !isOfStandby, PostgreSQLSession.answers(at: handle) else {
                    isLost = true
                    throw PostgreSQLFailure(state: nil, reason: "the server does not answer")
                }
                patience = Self.laterSilence
            } else if PQconsumeInput(handle) != 1 {
                throw failure(nil)
            }
        }
    }

    func failure(_ result: OpaquePointer?) -> PostgreSQLFailure {
        let field = result.flatMap { PQresultErrorField($0, Int32(UInt8(ascii: "C"))) }
        // A lost connection has no SQLSTATE.
        return PostgreSQLFailure(
            state: PQstatus(handle) == CONNECTION_OK ? field.map { String(cString: $0) } ?? "" : nil)
    }

    /// Waits for notifications on the channels of `LISTEN`.
    ///
    /// - Returns: The texts of the notifications; none after the timeout.
    func notifications(within milliseconds: Int32) throws(PostgreSQLFailure) -> [String] {
        var line = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        poll(&line, 1, milliseconds)
        guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { throw failure(nil) }
        var texts: [String] = []
        while let notification = PQnotifies(handle) {
            texts.append(String(cString: notification.pointee.extra))
            PQfreemem(notification)
        }
        return texts
    }
}

/// A command to the server, which sends an answer to each.
enum PostgreSQLCommand {
    case prepare(name: String, sql: String)
    case execute(name: String, arguments: [SQLValue])
    /// A statement with arguments that is not prepared under a name.
    case runOnce(sql: String, arguments: [SQLValue])
    /// A statement without arguments. The connection does not prepare it.
    case run(String)
}
