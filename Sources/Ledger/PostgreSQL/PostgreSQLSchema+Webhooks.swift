/// The tables of version 13, as `LedgerSchema` has them.
extension PostgreSQLSchema {
    static let webhookTables = """
        CREATE TABLE webhook_endpoint (
            endpoint_id TEXT COLLATE "C" PRIMARY KEY,
            url TEXT COLLATE "C" NOT NULL,
            created_at BIGINT NOT NULL,
            created_by TEXT COLLATE "C" NOT NULL,
            secret BYTEA NOT NULL CHECK (length(secret) = 32),
            previous_secret BYTEA CHECK (length(previous_secret) = 32),
            previous_secret_ends_at BIGINT,
            removed_at BIGINT,
            CHECK ((previous_secret IS NULL) = (previous_secret_ends_at IS NULL))
        );

        CREATE TABLE webhook_delivery (
            user_id BIGINT NOT NULL,
            audit_number BIGINT NOT NULL,
            endpoint_id TEXT COLLATE "C" NOT NULL,
            message_id TEXT COLLATE "C" NOT NULL,
            happened_at BIGINT NOT NULL,
            attempts BIGINT NOT NULL CHECK (attempts >= 0),
            next_attempt_at BIGINT,
            is_delivered BIGINT NOT NULL CHECK (is_delivered IN (0, 1)),
            last_attempt_at BIGINT,
            last_status BIGINT,
            last_error TEXT COLLATE "C",
            PRIMARY KEY (endpoint_id, user_id, audit_number),
            FOREIGN KEY (user_id, audit_number) REFERENCES audit (user_id, number),
            CHECK (is_delivered = 0 OR next_attempt_at IS NULL)
        );
        \(LedgerSchema.webhookIndexes)
        """
}
