import Commerce

/// The ledger's tables in PostgreSQL.
///
/// They are those of `LedgerSchema`, with what a PostgreSQL that is spread over machines asks for: keys are led by what tells
/// rows apart, a user or a transaction, never by an origin that all have in common or by a number that grows; no sequence.
enum PostgreSQLSchema {
    /// Of no meaning but that others who prepare a ledger wait.
    private static let lock: Int64 = 0x7469_6c6c

    /// Makes the tables when there are none, and what an earlier version had no tables for.
    ///
    /// - Returns: Why there is no ledger of this version here; nil where there is one.
    static func prepare(_ connection: PostgreSQLConnection, takesOver: Bool) throws -> StorageFault.Cause? {
        connection.runLater("BEGIN ISOLATION LEVEL READ COMMITTED")
        _ = try connection.query(SQLQuery("SELECT pg_advisory_xact_lock($1) IS NULL", [lock]))
        let found = try connection.query(
            SQLQuery("SELECT to_regclass('ledger_schema') IS NOT NULL AS is_there")
        ).rows.first
        var version = 0
        if try found?["is_there"] == true {
            let newest = try connection.query(
                SQLQuery("SELECT max(version) AS version FROM ledger_schema")
            ).rows.first
            version = try newest?["version"] ?? 0
        }
        for step in steps where takesOver && step.version > version {
            try connection.script(step.tables)
            try connection.queryLater(SQLQuery("INSERT INTO ledger_schema (version) VALUES ($1)", [step.version]))
            version = step.version
        }
        try connection.commit()
        if version == LedgerSchema.version { return nil }
        if version == 0 { return .missing }
        return version < LedgerSchema.version ? .olderVersion : .newerVersion
    }

    /// What each version has added, from the first that could be in PostgreSQL.
    private static let steps: [(version: Int, tables: String)] = [
        (8, firstTables), (9, accountTables), (10, profileTables), (11, memberTable), (12, changeTable),
        (13, webhookTables), (14, catalogTables), (15, requestTables),
    ]

    /// Texts are compared by their bytes, as SQLite does it.
    private static let firstTables = """
        CREATE TABLE ledger_schema (version BIGINT PRIMARY KEY);

        CREATE TABLE ledger_commit (
            token BYTEA PRIMARY KEY,
            is_committed SMALLINT NOT NULL,
            committed_at TIMESTAMPTZ NOT NULL DEFAULT now()
        );

        CREATE TABLE "user" (
            user_id BIGINT PRIMARY KEY
                DEFAULT ('x' || right(replace(gen_random_uuid()::text, '-', ''), 15))::bit(60)::bigint,
            issuer TEXT COLLATE "C" NOT NULL,
            name TEXT COLLATE "C" NOT NULL CHECK (name <> ''),
            app_account_token TEXT COLLATE "C" NOT NULL UNIQUE CHECK (length(app_account_token) = 36),
            first_seen_at BIGINT NOT NULL,
            is_app_account_token_settled BIGINT NOT NULL DEFAULT 1,
            UNIQUE (name, issuer)
        );

        CREATE TABLE original_transaction (
            origin TEXT COLLATE "C" NOT NULL,
            original_transaction_id TEXT COLLATE "C" NOT NULL,
            user_id BIGINT NOT NULL REFERENCES "user" (user_id),
            transferred_at BIGINT,
            named_at BIGINT,
            named_by TEXT COLLATE "C",
            named_stated_at BIGINT,
            CHECK ((named_at IS NULL) = (named_by IS NULL) AND (named_at IS NULL) = (named_stated_at IS NULL)),
            PRIMARY KEY (original_transaction_id, origin),
            UNIQUE (original_transaction_id, origin, user_id)
        );

        CREATE TABLE redeemed_transaction (
            origin TEXT COLLATE "C" NOT NULL,
            transaction_id TEXT COLLATE "C" NOT NULL,
            original_transaction_id TEXT COLLATE "C" NOT NULL,
            user_id BIGINT NOT NULL,
            sequence BIGINT NOT NULL CHECK (sequence > 0),
            product_id TEXT COLLATE "C" NOT NULL,
            quantity BIGINT NOT NULL CHECK (quantity > 0),
            purchase_date BIGINT NOT NULL,
            revocation_date BIGINT,
            revocation_reason BIGINT,
            expires_at BIGINT,
            grace_ends_at BIGINT,
            grace_stated_at BIGINT,
            stated_at BIGINT NOT NULL,
            redeemed_at BIGINT NOT NULL,
            proof_digest BYTEA NOT NULL CHECK (length(proof_digest) = 32),
            PRIMARY KEY (transaction_id, origin),
            UNIQUE (transaction_id, origin, user_id),
            UNIQUE (user_id, sequence),
            FOREIGN KEY (original_transaction_id, origin, user_id)
                REFERENCES original_transaction (original_transaction_id, origin, user_id) ON UPDATE CASCADE
        );
        CREATE INDEX redeemed_transaction_of_original ON redeemed_transaction (original_transaction_id, origin);

        CREATE TABLE entitlement (
            user_id BIGINT NOT NULL,
            collection TEXT COLLATE "C" NOT NULL,
            number BIGINT NOT NULL CHECK (number >= 0),
            origin TEXT COLLATE "C" NOT NULL,
            transaction_id TEXT COLLATE "C" NOT NULL,
            granted_at BIGINT NOT NULL,
            PRIMARY KEY (user_id, collection, number, origin, transaction_id),
            UNIQUE (transaction_id, origin, collection, number),
            FOREIGN KEY (transaction_id, origin, user_id)
                REFERENCES redeemed_transaction (transaction_id, origin, user_id) ON UPDATE CASCADE
        );

        CREATE TABLE credit (
            origin TEXT COLLATE "C" NOT NULL,
            transaction_id TEXT COLLATE "C" NOT NULL,
            user_id BIGINT NOT NULL,
            balance TEXT COLLATE "C" NOT NULL CHECK (balance <> ''),
            amount BIGINT NOT NULL CHECK (amount > 0),
            PRIMARY KEY (transaction_id, origin),
            FOREIGN KEY (transaction_id, origin, user_id)
                REFERENCES redeemed_transaction (transaction_id, origin, user_id) ON UPDATE CASCADE
        );
        CREATE INDEX credit_of_user ON credit (user_id);

        CREATE TABLE parked_transaction (
            origin TEXT COLLATE "C" NOT NULL,
            transaction_id TEXT COLLATE "C" NOT NULL,
            revocation_date BIGINT,
            revocation_reason BIGINT,
            stated_at BIGINT NOT NULL,
            expires_at BIGINT,
            original_transaction_id TEXT COLLATE "C",
            claim BYTEA,
            PRIMARY KEY (transaction_id, origin)
        );
        CREATE INDEX parked_transaction_of_original ON parked_transaction (original_transaction_id, origin);

        CREATE TABLE notification (
            origin TEXT COLLATE "C" NOT NULL,
            notification_uuid TEXT COLLATE "C" NOT NULL,
            type TEXT COLLATE "C" NOT NULL,
            subtype TEXT COLLATE "C",
            transaction_id TEXT COLLATE "C",
            signed_at BIGINT NOT NULL,
            received_at BIGINT NOT NULL,
            proof_digest BYTEA NOT NULL CHECK (length(proof_digest) = 32),
            settled_at BIGINT,
            PRIMARY KEY (notification_uuid, origin)
        );
        CREATE INDEX notification_that_asks ON notification (signed_at)
            WHERE type = 'CONSUMPTION_REQUEST' AND settled_at IS NULL;

        CREATE TABLE team_grant (
            user_id BIGINT NOT NULL REFERENCES "user" (user_id),
            sequence BIGINT NOT NULL CHECK (sequence > 0),
            grant_id TEXT COLLATE "C" NOT NULL UNIQUE,
            collection TEXT COLLATE "C" NOT NULL,
            number BIGINT NOT NULL CHECK (number >= 0),
            reason TEXT COLLATE "C" NOT NULL CHECK (reason <> ''),
            granted_by TEXT COLLATE "C" NOT NULL,
            granted_at BIGINT NOT NULL,
            ends_at BIGINT CHECK (ends_at > granted_at),
            revoked_at BIGINT,
            revoked_by TEXT COLLATE "C",
            revocation_reason TEXT COLLATE "C",
            CHECK ((revoked_at IS NULL) = (revoked_by IS NULL) AND (revoked_at IS NULL) = (revocation_reason IS NULL)),
            PRIMARY KEY (user_id, sequence)
        );

        CREATE TABLE team_revocation (
            origin TEXT COLLATE "C" NOT NULL,
            original_transaction_id TEXT COLLATE "C" NOT NULL,
            sequence BIGINT NOT NULL CHECK (sequence > 0),
            reason TEXT COLLATE "C" NOT NULL CHECK (reason <> ''),
            revoked_by TEXT COLLATE "C" NOT NULL,
            revoked_at BIGINT NOT NULL,
            reinstated_by TEXT COLLATE "C",
            reinstated_at BIGINT,
            CHECK ((reinstated_by IS NULL) = (reinstated_at IS NULL)),
            PRIMARY KEY (original_transaction_id, origin, sequence),
            FOREIGN KEY (original_transaction_id, origin)
                REFERENCES original_transaction (original_transaction_id, origin)
        );
        CREATE UNIQUE INDEX team_revocation_that_stands
            ON team_revocation (original_transaction_id, origin) WHERE reinstated_at IS NULL;

        CREATE TABLE spending (
            user_id BIGINT NOT NULL REFERENCES "user" (user_id),
            spending_id TEXT COLLATE "C" NOT NULL,
            balance TEXT COLLATE "C" NOT NULL,
            amount BIGINT NOT NULL CHECK (amount > 0),
            reason TEXT COLLATE "C" NOT NULL CHECK (reason <> ''),
            spent_by TEXT COLLATE "C" NOT NULL,
            spent_at BIGINT NOT NULL,
            PRIMARY KEY (user_id, spending_id)
        );

        CREATE TABLE kept_answer (
            caller TEXT COLLATE "C" NOT NULL,
            idempotency_key TEXT COLLATE "C" NOT NULL,
            request_digest BYTEA NOT NULL CHECK (length(request_digest) = 32),
            status BIGINT NOT NULL,
            content_type TEXT COLLATE "C" NOT NULL,
            body BYTEA NOT NULL,
            kept_at BIGINT NOT NULL,
            PRIMARY KEY (idempotency_key, caller)
        );
        CREATE INDEX kept_answer_by_age ON kept_answer (kept_at);

        CREATE TABLE api_key (
            key_id TEXT COLLATE "C" PRIMARY KEY,
            name TEXT COLLATE "C" NOT NULL,
            scopes TEXT COLLATE "C" NOT NULL,
            secret_digest BYTEA NOT NULL CHECK (length(secret_digest) = 32),
            created_at BIGINT NOT NULL,
            revoked_at BIGINT
        );

        CREATE TABLE reconciliation (
            subject TEXT COLLATE "C" PRIMARY KEY,
            reconciled_until BIGINT NOT NULL
        );

        CREATE TABLE audit (
            user_id BIGINT NOT NULL REFERENCES "user" (user_id),
            number BIGINT NOT NULL CHECK (number > 0),
            happened_at BIGINT NOT NULL,
            event TEXT COLLATE "C" NOT NULL,
            actor TEXT COLLATE "C" NOT NULL,
            origin TEXT COLLATE "C",
            reference TEXT COLLATE "C" NOT NULL,
            subject TEXT COLLATE "C" NOT NULL,
            reason TEXT COLLATE "C",
            reason_salt BYTEA,
            reason_digest BYTEA CHECK (length(reason_digest) = 32),
            digest BYTEA NOT NULL CHECK (length(digest) = 32),
            PRIMARY KEY (user_id, number)
        );
        CREATE TABLE refusal (
            user_id BIGINT NOT NULL REFERENCES "user" (user_id),
            origin TEXT COLLATE "C" NOT NULL,
            transaction_id TEXT COLLATE "C" NOT NULL,
            reason TEXT COLLATE "C" NOT NULL,
            PRIMARY KEY (user_id, origin, transaction_id, reason)
        );

        CREATE FUNCTION audit_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            RAISE EXCEPTION 'The audit log is kept.' USING ERRCODE = 'restrict_violation';
        END $$;
        CREATE TRIGGER audit_is_kept BEFORE DELETE OR TRUNCATE ON audit
            FOR EACH STATEMENT EXECUTE FUNCTION audit_is_kept();
        CREATE TRIGGER audit_is_not_rewritten BEFORE UPDATE ON audit FOR EACH ROW
            WHEN (new.reason IS NOT NULL OR new.reason_salt IS NOT NULL OR (
                old.user_id, old.number, old.happened_at, old.event, old.actor, old.origin, old.reference, old.subject,
                old.reason_digest, old.digest
            ) IS DISTINCT FROM (
                new.user_id, new.number, new.happened_at, new.event, new.actor, new.origin, new.reference, new.subject,
                new.reason_digest, new.digest))
            EXECUTE FUNCTION audit_is_kept();
        """
}
