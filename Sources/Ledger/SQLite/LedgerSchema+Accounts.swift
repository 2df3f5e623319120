/// The tables of version 9.
extension LedgerSchema {
    /// Of an address, the form in small letters tells accounts apart. Of tokens there are only digests; a session's old access
    /// token is good until it ends, the old refresh token never is.
    static let accountTables = """
        CREATE TABLE account (
            user_id INTEGER PRIMARY KEY REFERENCES user (user_id),
            email TEXT NOT NULL,
            email_lowercase TEXT NOT NULL UNIQUE,
            password_hash TEXT NOT NULL,
            created_at INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE session (
            session_id BLOB PRIMARY KEY CHECK (length(session_id) = 16),
            refresh_id BLOB NOT NULL UNIQUE CHECK (length(refresh_id) = 16),
            user_id INTEGER NOT NULL REFERENCES account (user_id),
            refresh_digest BLOB NOT NULL CHECK (length(refresh_digest) = 32),
            access_digest BLOB NOT NULL CHECK (length(access_digest) = 32),
            previous_access_digest BLOB CHECK (length(previous_access_digest) = 32),
            began_at INTEGER NOT NULL,
            ends_at INTEGER NOT NULL CHECK (ends_at > began_at)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX session_of_user ON session (user_id, began_at);
        CREATE INDEX session_by_end ON session (ends_at);
        """
}
