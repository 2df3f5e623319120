/// The tables of version 13: whom back ends have the ledger tell, and what is on its way to them.
extension LedgerSchema {
    /// No delivery refers to its endpoint, which everybody who redeems would have to hold on to; an endpoint that is removed
    /// stays until its deliveries are gone.
    static let webhookTables = """
        CREATE TABLE webhook_endpoint (
            endpoint_id TEXT PRIMARY KEY,
            url TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            created_by TEXT NOT NULL,
            secret BLOB NOT NULL CHECK (length(secret) = 32),
            previous_secret BLOB CHECK (length(previous_secret) = 32),
            previous_secret_ends_at INTEGER,
            removed_at INTEGER,
            CHECK ((previous_secret IS NULL) = (previous_secret_ends_at IS NULL))
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE webhook_delivery (
            user_id INTEGER NOT NULL,
            audit_number INTEGER NOT NULL,
            endpoint_id TEXT NOT NULL,
            message_id TEXT NOT NULL,
            happened_at INTEGER NOT NULL,
            attempts INTEGER NOT NULL CHECK (attempts >= 0),
            next_attempt_at INTEGER,
            is_delivered INTEGER NOT NULL CHECK (is_delivered IN (0, 1)),
            last_attempt_at INTEGER,
            last_status INTEGER,
            last_error TEXT,
            PRIMARY KEY (endpoint_id, user_id, audit_number),
            FOREIGN KEY (user_id, audit_number) REFERENCES audit (user_id, number),
            CHECK (is_delivered = 0 OR next_attempt_at IS NULL)
        ) STRICT, WITHOUT ROWID;
        \(webhookIndexes)
        """

    static let webhookIndexes = """
        CREATE UNIQUE INDEX webhook_delivery_message ON webhook_delivery (endpoint_id, message_id);
        CREATE INDEX webhook_delivery_by_age ON webhook_delivery (endpoint_id, happened_at, message_id);
        CREATE INDEX webhook_delivery_due ON webhook_delivery (endpoint_id, next_attempt_at, happened_at)
            WHERE next_attempt_at IS NOT NULL;
        CREATE INDEX webhook_delivery_pending ON webhook_delivery (endpoint_id, happened_at, message_id)
            WHERE next_attempt_at IS NOT NULL;
        CREATE INDEX webhook_delivery_failed ON webhook_delivery (endpoint_id, happened_at, message_id)
            WHERE next_attempt_at IS NULL AND is_delivered = 0;
        CREATE INDEX webhook_delivery_delivered ON webhook_delivery (endpoint_id, happened_at, message_id)
            WHERE is_delivered = 1;
        """
}
