/// The tables of version 9, as `LedgerSchema` has them.
extension PostgreSQLSchema {
    static let accountTables = """
        CREATE TABLE account (
            user_id BIGINT PRIMARY KEY REFERENCES "user" (user_id),
            email TEXT COLLATE "C" NOT NULL,
            email_lowercase TEXT COLLATE "C" NOT NULL UNIQUE,
            password_hash TEXT COLLATE "C" NOT NULL,
            created_at BIGINT NOT NULL
        );

        CREATE TABLE session (
            session_id BYTEA PRIMARY KEY CHECK (length(session_id) = 16),
            refresh_id BYTEA NOT NULL UNIQUE CHECK (length(refresh_id) = 16),
            user_id BIGINT NOT NULL REFERENCES account (user_id),
            refresh_digest BYTEA NOT NULL CHECK (length(refresh_digest) = 32),
            access_digest BYTEA NOT NULL CHECK (length(access_digest) = 32),
            previous_access_digest BYTEA CHECK (length(previous_access_digest) = 32),
            began_at BIGINT NOT NULL,
            ends_at BIGINT NOT NULL CHECK (ends_at > began_at)
        );
        CREATE INDEX session_of_user ON session (user_id, began_at);
        CREATE INDEX session_by_end ON session (ends_at);
        """
}
