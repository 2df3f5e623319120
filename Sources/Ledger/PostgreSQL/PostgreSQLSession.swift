import CPostgreSQL
import Dispatch
import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// One of the servers of an address.
struct PostgreSQLServer: Equatable, Sendable {
    let host: String
    let port: String
}

/// The way to a server, and the settings of each session.
enum PostgreSQLSession {
    /// The time for a connection to a server with one host.
    private static let timeout = Duration.milliseconds(2500)
    /// The time for the answer of a server to another connection.
    private static let probeTime = Duration.milliseconds(1200)

    /// - Parameters:
    ///   - server: The server of the address to connect to; nil for the first that is a primary.
    ///   - timeout: The time for a server with one host; nil for the usual one. `connect_timeout` of the address overrides it.
    ///   - ofStandby: True for the first standby instead of the primary.
    /// - Returns: A connection that the caller frees (`PQfinish`), and that may have failed.
    static func connection(
        to address: PostgreSQLAddress, at server: PostgreSQLServer?, within timeout: Duration?, ofStandby: Bool
    ) throws(PostgreSQLFailure) -> OpaquePointer {
        // The address overrides only the settings before it. The system gives up a connection with unconfirmed bytes late: a
        // server that executes a long statement takes no more of them meanwhile. `awaitResult` notices a lost machine earlier.
        let settings =
            [
                ("connect_timeout", "2"), ("target_session_attrs", ofStandby ? "standby" : "read-write"),
                ("tcp_user_timeout", "15000"),
                ("keepalives_idle", "3"), ("keepalives_interval", "1"), ("keepalives_count", "3"),
                ("fallback_application_name", "till"), ("dbname", address.url), ("client_encoding", "UTF8"),
            ] + (server.map { [("host", $0.host), ("port", $0.port)] } ?? [])
        let connect = { @Sendable in
            withCStrings(settings.map(\.0)) { keywords in
                withCStrings(settings.map(\.1)) { values in PQconnectdbParams(keywords, values, 1) }
            }
        }
        guard server != nil || !address.hasSeveralHosts else {
            guard let handle = connect() else { throw PostgreSQLFailure(state: nil) }
            return handle
        }
        let limit = address.connectTimeout.map { $0 + .seconds(1) } ?? min(timeout ?? Self.timeout, Self.timeout)
        guard let handle = ConnectionAttempt(connect).connection(within: limit) else {
            throw PostgreSQLFailure(state: nil, reason: "no answer from \(address.places) in time")
        }
        return handle
    }

    /// Returns true if the server of a connection answers another one. A socket of this machine needs no question.
    ///
    /// The question is for TLS, which a server answers with one byte before any log-in, and without a line in its log (PostgreSQL,
    /// 55.2.10). It costs less than a log-in, which would fail with another way to authenticate.
    static func answers(at handle: OpaquePointer) -> Bool {
        guard let host = PQhostaddr(handle), let port = PQport(handle), host.pointee != 0 else { return true }
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        #if canImport(Glibc)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, port, &hints, &found) == 0, let found else { return true }
        defer { freeaddrinfo(found) }
        let line = socket(found.pointee.ai_family, found.pointee.ai_socktype, 0)
        guard line >= 0 else { return true }
        defer { close(line) }
        _ = fcntl(line, F_SETFD, FD_CLOEXEC)
        _ = fcntl(line, F_SETFL, O_NONBLOCK)
        let end = ContinuousClock.now + probeTime
        func isReady(for events: Int32) -> Bool {
            let (seconds, attoseconds) = max(end - .now, .zero).components
            var waiting = pollfd(fd: line, events: Int16(events), revents: 0)
            return poll(&waiting, 1, Int32(seconds * 1000 + attoseconds / 1_000_000_000_000_000)) == 1
        }
        guard
            connect(line, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0
                || errno == EINPROGRESS && isReady(for: Int32(POLLOUT))
        else { return false }
        let request: [UInt8] = [0, 0, 0, 8, 0x04, 0xD2, 0x16, 0x2F]
        var answer: UInt8 = 0
        #if canImport(Glibc)
            let flags = Int32(MSG_NOSIGNAL)
        #else
            let flags: Int32 = 0
        #endif
        return send(line, request, request.count, flags) == request.count && isReady(for: Int32(POLLIN))
            && read(line, &answer, 1) == 1
    }

    /// The settings of a session. Each commit is durable. A sequential scan would conflict with every other SERIALIZABLE
    /// transaction, so each query uses an index if there is one. It reads few rows, for which parallel workers would take longer
    /// to start than to read.
    ///
    /// Citus cannot run generic plans over several shards. A group's writes take ten times as long if Citus opens several connections to
    /// a worker. `till ledger check` compares whole tables on the coordinator. PostgreSQL without Citus ignores the settings of Citus.
    static let settings = """
        SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
        SELECT set_config('plan_cache_mode', CASE WHEN EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')
            THEN 'auto' ELSE 'force_generic_plan' END, false);
        \(assignments(isLocal: false));

        """

    /// The same for one transaction through a pooler, whose sessions belong to nobody. It plans each statement anew.
    static let localSettings = assignments(isLocal: true)

    /// Asks for the settings that the role or the server has otherwise. If it has all, no transaction needs to set them, which
    /// would bind it to a session of RDS Proxy.
    static let lacksSettings =
        "SELECT current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') OR EXISTS (SELECT FROM pg_extension "
        + "WHERE extname = 'citus')" + values.map { " OR current_setting('\($0)') <> '\($1)'" }.joined()

    static let hasCitus = "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus');"

    /// The values, as PostgreSQL prints them.
    private static let values = [
        ("enable_seqscan", "off"), ("max_parallel_workers_per_gather", "0"), ("jit", "off"), ("statement_timeout", "0"),
        ("lock_timeout", "10s"), ("idle_in_transaction_session_timeout", "1min"),
    ]

    private static let valuesForCitus = [
        ("citus.max_adaptive_executor_pool_size", "1"), ("citus.multi_shard_modify_mode", "sequential"),
        ("citus.max_intermediate_result_size", "-1"),
    ]

    private static func assignments(isLocal: Bool) -> String {
        let durability =
            "set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN "
            + "'remote_apply' ELSE 'on' END, \(isLocal))"
        return "SELECT "
            + ([durability] + (values + valuesForCitus).map { "set_config('\($0)', '\($1)', \(isLocal))" })
            .joined(separator: ", ")
    }

    /// Passes the texts as C strings, followed by a null pointer.
    private static func withCStrings<Value>(
        _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value?
    ) -> Value? {
        let bytes = texts.flatMap { $0.utf8CString }
        return bytes.withUnsafeBufferPointer { buffer in
            var offset = 0
            let pointers = texts.map { text in
                defer { offset += text.utf8CString.count }
                return buffer.baseAddress.map { $0 + offset }
            }
            return (pointers + [nil]).withUnsafeBufferPointer { $0.baseAddress.flatMap(body) }
        }
    }
}

/// A connection that is made on a thread of its own. libpq's own limit counts for each address of a host, and not while it
/// looks up the name.
private final class ConnectionAttempt: Sendable {
    private enum State {
        case running
        /// The address of libpq's connection, which is no pointer that may cross threads; nil if there is no memory.
        case ended(Int?)
        case abandoned
    }

    private let state = Mutex(State.running)
    private let end = DispatchSemaphore(value: 0)

    init(_ connect: @escaping @Sendable () -> OpaquePointer?) {
        Thread.detachNewThread { self.finish(with: connect()) }
    }

    private func finish(with handle: OpaquePointer?) {
        let isAbandoned = state.withLock { state in
            if case .abandoned = state { return true }
            state = .ended(handle.map { Int(bitPattern: $0) })
            return false
        }
        if isAbandoned { PQfinish(handle) }
        end.signal()
    }

    /// - Returns: Nil if the time is over. The thread then frees the connection.
    func connection(within limit: Duration) -> OpaquePointer? {
        let (seconds, attoseconds) = limit.components
        _ = end.wait(timeout: .now() + .seconds(Int(seconds)) + .nanoseconds(Int(attoseconds / 1_000_000_000)))
        return state.withLock { state in
            guard case .ended(let handle) = state else {
                state = .abandoned
                return nil
            }
            return handle.flatMap { OpaquePointer(bitPattern: $0) }
        }
    }
}
