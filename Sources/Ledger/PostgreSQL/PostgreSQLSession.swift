import CPostgreSQL

/// The settings of every connection.
enum PostgreSQLSession {
    /// - Parameter server: The server of the address to connect to; nil for the first that is a primary.
    /// - Returns: An object that the caller frees (`PQfinish`); nil without memory.
    static func connect(to address: PostgreSQLAddress, at server: PostgreSQLServer?) -> OpaquePointer? {
        // The address overrides the settings before it, and not those after it. A server that is cut off has to be
        // given up twice within the 20 seconds of a failover: by the connection that is lost, and by the next one.
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

    /// Each commit is durable. Reading a whole table to find a row would have each SERIALIZABLE transaction meet every other, so
    /// indexes are used wherever there is one. Citus cannot run generic plans over several shards.
    static let settings = """
        SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
        SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')
            WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false);
        SET enable_seqscan = off;
        SET jit = off;
        SELECT set_config('plan_cache_mode', CASE WHEN EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')
            THEN 'auto' ELSE 'force_generic_plan' END, false);
        SET statement_timeout = 0;
        SET lock_timeout = '10s';
        SET idle_in_transaction_session_timeout = '60s';
        """

    /// The texts as C has them, and a null behind the last.
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
