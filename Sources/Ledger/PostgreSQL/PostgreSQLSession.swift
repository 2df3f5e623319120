import CPostgreSQL

/// The settings of each connection.
enum PostgreSQLSession {
    /// - Parameter server: The server of the address to connect to; nil for the first that is a primary.
    /// - Returns: A connection that the caller frees (`PQfinish`); nil if there is no memory.
    static func connect(to address: PostgreSQLAddress, at server: PostgreSQLServer?) -> OpaquePointer? {
        // The address overrides only the settings before it. Two connections to an unreachable server, the lost one and the
        // next one, must time out within the 20 seconds of a failover.
        let settings =
            [
                ("connect_timeout", "2"), ("target_session_attrs", "read-write"), ("tcp_user_timeout", "5000"),
                ("keepalives_idle", "3"), ("keepalives_interval", "1"), ("keepalives_count", "3"),
                ("fallback_application_name", "till"), ("dbname", address.url), ("client_encoding", "UTF8"),
            ] + (server.map { [("host", $0.host), ("port", $0.port)] } ?? [])
        return withCStrings(settings.map(\.0)) { keywords in
            withCStrings(settings.map(\.1)) { values in PQconnectdbParams(keywords, values, 1) }
        }
    }

    /// The settings of a session. Each commit is durable. A sequential scan would conflict with every other SERIALIZABLE
    /// transaction, so each query uses an index if there is one. It reads few rows, for which parallel workers would take longer
    /// to start than to read. Citus cannot run generic plans over several shards.
    static let settings = """
        SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
        SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')
            WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false);
        SET enable_seqscan = off;
        SET max_parallel_workers_per_gather = 0;
        SET jit = off;
        SELECT set_config('plan_cache_mode', CASE WHEN EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')
            THEN 'auto' ELSE 'force_generic_plan' END, false);
        SET statement_timeout = 0;
        SET lock_timeout = '10s';
        SET idle_in_transaction_session_timeout = '60s';
        """

    /// Passes the texts as C strings, followed by a null pointer.
    private static func withCStrings<Value>(
        _ texts: [String],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value?
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
