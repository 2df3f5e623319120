import HTTPSupport

/// The tables of the store's own database.
enum StoreSchema: LocalSchema {
    typealias Failure = StoreError

    static let version = 1
    static let tables = """
        \(ClockRecords.table)

        CREATE TABLE app_store_transaction (
            transaction_id TEXT PRIMARY KEY,
            original_transaction_id TEXT NOT NULL,
            order_id TEXT NOT NULL,
            account TEXT NOT NULL,
            product_id TEXT NOT NULL,
            purchase_date INTEGER NOT NULL,
            shared_transaction_id TEXT,
            record TEXT NOT NULL,
            refund_requested INTEGER NOT NULL DEFAULT 0,
            change INTEGER NOT NULL UNIQUE
        ) STRICT;
        CREATE INDEX app_store_transaction_by_original ON app_store_transaction (original_transaction_id);
        CREATE INDEX app_store_transaction_by_order ON app_store_transaction (order_id);
        CREATE INDEX app_store_transaction_by_account ON app_store_transaction (account);
        CREATE INDEX app_store_transaction_by_shared ON app_store_transaction (shared_transaction_id)
            WHERE shared_transaction_id IS NOT NULL;

        CREATE TABLE subscription (
            original_transaction_id TEXT PRIMARY KEY,
            account TEXT NOT NULL,
            group_id TEXT NOT NULL,
            shared_original_transaction_id TEXT,
            due_date INTEGER,
            record TEXT NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX subscription_by_group ON subscription (account, group_id)
            WHERE shared_original_transaction_id IS NULL;
        CREATE INDEX subscription_by_account ON subscription (account);
        CREATE INDEX subscription_by_shared ON subscription (shared_original_transaction_id)
            WHERE shared_original_transaction_id IS NOT NULL;
        CREATE INDEX subscription_by_due_date ON subscription (due_date);

        CREATE TABLE family_member (
            account TEXT PRIMARY KEY,
            organizer TEXT NOT NULL
        ) STRICT;
        CREATE INDEX family_member_by_organizer ON family_member (organizer);

        CREATE TABLE notification (
            uuid TEXT PRIMARY KEY,
            type TEXT NOT NULL,
            subtype TEXT,
            transaction_id TEXT,
            original_transaction_id TEXT,
            date INTEGER NOT NULL,
            payload TEXT NOT NULL,
            next_attempt_date INTEGER,
            comes_after_next INTEGER NOT NULL,
            repeats INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX notification_by_date ON notification (date);
        CREATE INDEX notification_by_next_attempt_date ON notification (next_attempt_date);

        CREATE TABLE send_attempt (
            notification_uuid TEXT NOT NULL REFERENCES notification (uuid) ON DELETE CASCADE,
            date INTEGER NOT NULL,
            result TEXT NOT NULL
        ) STRICT;
        CREATE INDEX send_attempt_by_notification ON send_attempt (notification_uuid);

        CREATE TABLE mass_extension (
            product_id TEXT NOT NULL,
            request_id TEXT NOT NULL,
            record TEXT NOT NULL,
            PRIMARY KEY (product_id, request_id)
        ) STRICT;

        CREATE TABLE consumption (
            transaction_id TEXT PRIMARY KEY REFERENCES app_store_transaction (transaction_id),
            record TEXT NOT NULL
        ) STRICT;

        CREATE TABLE messaging (
            kind TEXT NOT NULL,
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            UNIQUE (kind, name)
        ) STRICT;

        CREATE TABLE seat_claim (
            seat_claim_id TEXT PRIMARY KEY,
            original_transaction_id TEXT NOT NULL,
            request_id TEXT NOT NULL,
            app_transaction_id TEXT,
            UNIQUE (original_transaction_id, request_id)
        ) STRICT;

        CREATE TABLE external_purchase_token (
            external_purchase_id TEXT PRIMARY KEY,
            type TEXT,
            creation_date INTEGER NOT NULL,
            expiration_date INTEGER,
            token TEXT NOT NULL,
            status TEXT,
            reminder_date INTEGER
        ) STRICT;
        CREATE INDEX external_purchase_token_by_reminder ON external_purchase_token (reminder_date)
            WHERE reminder_date IS NOT NULL;

        CREATE TABLE external_purchase_report (
            request_id TEXT PRIMARY KEY,
            record TEXT NOT NULL
        ) STRICT;

        CREATE TABLE external_purchase_line_item (
            line_item_id TEXT PRIMARY KEY,
            reference_line_item_id TEXT,
            record TEXT NOT NULL
        ) STRICT;
        CREATE INDEX external_purchase_line_item_by_reference ON external_purchase_line_item (reference_line_item_id)
            WHERE reference_line_item_id IS NOT NULL;

        CREATE TABLE team_key (
            key_id TEXT PRIMARY KEY,
            issuer_id TEXT NOT NULL,
            public_key TEXT NOT NULL
        ) STRICT;

        CREATE TABLE used_nonce (
            nonce TEXT PRIMARY KEY
        ) STRICT;

        CREATE TABLE store_state (
            key TEXT PRIMARY KEY,
            value TEXT NOT NULL
        ) STRICT;

        CREATE TABLE payment_transaction (
            identifier INTEGER PRIMARY KEY AUTOINCREMENT,
            account TEXT NOT NULL,
            product_id TEXT NOT NULL,
            quantity INTEGER NOT NULL CHECK (quantity >= 1),
            app_account_token TEXT,
            billing_plan TEXT,
            offer TEXT,
            advanced_commerce TEXT,
            outcome TEXT NOT NULL,
            state TEXT NOT NULL CHECK (
                state IN ('purchasing', 'deferred', 'purchased', 'failed', 'restored', 'finished')),
            error INTEGER,
            transaction_id TEXT REFERENCES app_store_transaction (transaction_id),
            CHECK ((transaction_id IS NOT NULL)
                = (state IN ('purchased', 'restored') OR (state = 'finished' AND error IS NULL))),
            CHECK ((error IS NOT NULL) = (state = 'failed' OR (state = 'finished' AND transaction_id IS NULL)))
        ) STRICT;
        CREATE INDEX payment_transaction_by_account ON payment_transaction (account);
        CREATE INDEX payment_transaction_by_transaction ON payment_transaction (transaction_id);
        CREATE INDEX payment_transaction_unfinished ON payment_transaction (identifier) WHERE state <> 'finished';
        """
}
