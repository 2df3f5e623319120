import CPostgreSQL

/// A connection to a PostgreSQL server, for one caller at a time, with the statements it has prepared.
///
/// What is to be sent first may wait for the statement after it: they travel together, which saves a journey each (libpq's
/// pipeline mode).
final class PostgreSQLConnection {
    /// One that lost its line, and one whose transaction failed, must not be mistaken for one that is ready.
    enum State {
        case idle
        case inTransaction
        case broken
    }

    /// PostgreSQL's own object; freed in `deinit`, and in no other place.
    let handle: OpaquePointer
    /// Set by PostgreSQL when it warns of something; freed in `deinit`.
    private let hasWarned: UnsafeMutablePointer<Bool>
    /// The names of what was prepared, by their SQL.
    private var prepared: [String: String] = [:]
    /// The number in the last name given.
    private var lastName = 0
    private var waiting: [PostgreSQLCommand] = []
    /// Whom the transaction has changed something of.
    let changed = ChangedUsers()
    /// Whether the answer to the end of a read is still to be read.
    private var isEnding = false
    /// What was asked for ahead; until something else is done.
    private var known: [PostgreSQLQuestion: [SQLRow]] = [:]
    /// Sending more without reading the answers could have both sides wait for each other.
    private static let maximumWaiting = 64

    /// Connects to the primary among the hosts of an address.
    ///
    /// A machine that is gone is given up after some five seconds; a server that is there and waits, for its standby perhaps, is
    /// waited for.
    ///
    /// - Parameter server: The server of the address to connect to; nil for the first that is a primary.
    init(_ address: PostgreSQLAddress, at server: PostgreSQLServer? = nil) throws(PostgreSQLFailure) {
        let handle = PostgreSQLSession.connect(to: address, at: server)
        guard let handle else { throw PostgreSQLFailure(state: nil) }
        self.handle = handle
        hasWarned = .allocate(capacity: 1)
        hasWarned.initialize(to: false)
        guard PQstatus(handle) == CONNECTION_OK else { throw PostgreSQLFailure(state: nil) }
        // Nobody reads what it says; that it says something may matter.
        _ = PQsetNoticeReceiver(
            handle,
            { flag, result in
                guard PQresultErrorField(result, Int32(UInt8(ascii: "V"))).map({ String(cString: $0) }) == "WARNING"
                else { return }
                flag?.assumingMemoryBound(to: Bool.self).pointee = true
            }, hasWarned)
        try script(PostgreSQLSession.settings)
    }

    deinit {
        PQfinish(handle)
        hasWarned.deallocate()
    }

    /// The server at the other end.
    var server: PostgreSQLServer? {
        guard let host = PQhost(handle), let port = PQport(handle) else { return nil }
        return PostgreSQLServer(host: String(cString: host), port: String(cString: port))
    }

    var state: State {
        guard PQstatus(handle) == CONNECTION_OK else { return .broken }
        if isEnding { return waiting.isEmpty ? .idle : .inTransaction }
        return PQtransactionStatus(handle) == PQTRANS_IDLE && waiting.isEmpty ? .idle : .inTransaction
    }

    /// Runs any number of statements without arguments, and nothing else with them.
    func script(_ sql: String) throws(PostgreSQLFailure) {
        guard PQexitPipelineMode(handle) == 1 else { throw PostgreSQLFailure(state: nil) }
        let result = PQexec(handle, sql)
        defer { PQclear(result) }
        guard let result, [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            throw failure(result)
        }
        guard PQenterPipelineMode(handle) == 1 else { throw PostgreSQLFailure(state: nil) }
    }

    /// Has a statement wait for the next.
    func runLater(_ sql: String) {
        known.removeAll()
        waiting.append(.run(sql))
    }

    /// Has a statement wait for the next; what it finds is lost.
    func queryLater(_ query: SQLQuery) throws(PostgreSQLFailure) {
        known.removeAll()
        waiting += commands(PostgreSQLQuestion(query))
        if waiting.count >= Self.maximumWaiting { _ = try exchange() }
    }

    /// Asks for many things at once, which are known then until something is written.
    func prefetch(_ queries: [SQLQuery]) throws(PostgreSQLFailure) {
        let questions = queries.map(PostgreSQLQuestion.init).filter { known[$0] == nil }
        guard !questions.isEmpty else { return }
        if waiting.count + 2 * questions.count > Self.maximumWaiting { _ = try exchange() }
        var places: [Int] = []
        for question in questions {
            waiting += commands(question)
            places.append(waiting.count - 1)
        }
        let results = try exchange()
        for (question, place) in zip(questions, places) { known[question] = results[place].rows }
    }

    /// - Returns: The rows, and how many rows were written.
    func query(_ query: SQLQuery) throws(PostgreSQLFailure) -> (rows: [SQLRow], changes: Int) {
        let question = PostgreSQLQuestion(query)
        if let rows = known[question] { return (rows, 0) }
        if !query.sql.hasPrefix("SELECT") { known.removeAll() }
        waiting += commands(question)
        let result = try exchange().last
        return (result?.rows ?? [], result?.changes ?? 0)
    }

    /// Has the server do what waits, so that what is refused is known to be of who asked for it.
    func flush() throws(PostgreSQLFailure) {
        let isWriting = waiting.contains { if case .execute = $0 { true } else { false } }
        if isWriting { _ = try exchange() }
    }

    /// Ends the transaction, and returns when it is durable; on a standby too, where one is waited for.
    ///
    /// - Throws: `PostgreSQLFailure`; where the line is lost (`isLineLost`), nobody knows whether it was committed.
    func commit() throws(PostgreSQLFailure) {
        hasWarned.pointee = false
        known.removeAll()
        waiting.append(.run("COMMIT"))
        // A transaction that has failed answers a COMMIT with ROLLBACK.
        guard try exchange().last?.tag == "COMMIT" else { throw PostgreSQLFailure(state: "25P02") }
        // Somebody has ended the wait for the standby: the commit may be lost with this server.
        guard !hasWarned.pointee else { throw PostgreSQLFailure(state: "01000") }
    }

    /// Ends a transaction that only reads, without waiting for the answer, which the next use of the connection reads.
    func endRead() throws(PostgreSQLFailure) {
        known.removeAll()
        try flush()
        waiting.removeAll()
        guard !isEnding, send(.run("COMMIT")) == 1, PQpipelineSync(handle) == 1 else { throw failure(nil) }
        isEnding = true
    }

    /// Ends a transaction that came to nothing.
    func rollBack() throws(PostgreSQLFailure) {
        known.removeAll()
        waiting.removeAll()
        waiting.append(.run("ROLLBACK"))
        _ = try exchange()
    }

    /// Takes back what was done since the last savepoint.
    func rollBackToSavepoint(_ name: String) {
        runLater("ROLLBACK TO \(name)")
        runLater("RELEASE \(name)")
    }

    private func commands(_ question: PostgreSQLQuestion) -> [PostgreSQLCommand] {
        if let name = prepared[question.sql] { return [.execute(name: name, arguments: question.values)] }
        for case .prepare(let name, question.sql) in waiting {
            return [.execute(name: name, arguments: question.values)]
        }
        lastName += 1
        let name = "s\(lastName)"
        return [.prepare(name: name, sql: question.sql), .execute(name: name, arguments: question.values)]
    }

    /// Sends all that waits.
    ///
    /// - Returns: The answer to each.
    private func exchange() throws(PostgreSQLFailure) -> [PostgreSQLResult] {
        let commands = waiting
        waiting.removeAll(keepingCapacity: true)
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
                if PQstatus(handle) != CONNECTION_OK { throw refusal ?? error }
                // What comes after the first that fails was not run.
                refusal = refusal ?? error
            }
        }
        try readSync()
        if let refusal { throw refusal }
        return results
    }

    /// Reads the end of the answers to what was sent together.
    private func readSync() throws(PostgreSQLFailure) {
        let end = PQgetResult(handle)
        defer { PQclear(end) }
        // A server that ends the line may say so instead, after it has done everything.
        guard let end, PQresultStatus(end) == PGRES_PIPELINE_SYNC else { throw PostgreSQLFailure(state: nil) }
    }

    private func send(_ command: PostgreSQLCommand) -> Int32 {
        switch command {
        case .prepare(let name, let sql): PQsendPrepare(handle, name, sql, 0, nil)
        case .run(let sql): PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1)
        case .execute(let name, let arguments):
            PostgreSQLArguments(arguments).withPointers { count, values, lengths, formats in
                PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
            }
        }
    }

    /// The answer to one command.
    private func answer() throws(PostgreSQLFailure) -> PostgreSQLResult {
        let result = PQgetResult(handle)
        defer { PQclear(result) }
        // Each answer ends with nothing.
        defer { PQclear(PQgetResult(handle)) }
        guard let result, [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            throw failure(result)
        }
        return PostgreSQLResult(result)
    }

    func failure(_ result: OpaquePointer?) -> PostgreSQLFailure {
        let field = result.flatMap { PQresultErrorField($0, Int32(UInt8(ascii: "C"))) }
        // A line that broke has no state of its own.
        return PostgreSQLFailure(
            state: PQstatus(handle) == CONNECTION_OK ? field.map { String(cString: $0) } ?? "" : nil)
    }
}
