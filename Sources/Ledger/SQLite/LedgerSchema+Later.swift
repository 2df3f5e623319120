/// The tables of versions 3 to 5.
extension LedgerSchema {
    /// What was taken back by the team stays so whatever the App Store says of the purchase, and for whatever transaction
    /// restores it. An account token is settled once somebody was told it or has set it.
    static let teamTables = """
        CREATE TABLE team_grant (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            grant_id TEXT NOT NULL UNIQUE,
            user_id INTEGER NOT NULL REFERENCES user (user_id),
            collection TEXT NOT NULL,
            number INTEGER NOT NULL CHECK (number >= 0),
            reason TEXT NOT NULL CHECK (reason <> ''),
            granted_by TEXT NOT NULL,
            granted_at INTEGER NOT NULL,
            ends_at INTEGER CHECK (ends_at > granted_at),
            revoked_at INTEGER,
            revoked_by TEXT,
            revocation_reason TEXT,
            CHECK ((revoked_at IS NULL) = (revoked_by IS NULL) AND (revoked_at IS NULL) = (revocation_reason IS NULL))
        ) STRICT;
        CREATE INDEX team_grant_of_user ON team_grant (user_id, sequence);

        CREATE TABLE team_revocation (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            origin TEXT NOT NULL,
            original_transaction_id TEXT NOT NULL,
            reason TEXT NOT NULL CHECK (reason <> ''),
            revoked_by TEXT NOT NULL,
            revoked_at INTEGER NOT NULL,
            reinstated_by TEXT,
            reinstated_at INTEGER,
            CHECK ((reinstated_by IS NULL) = (reinstated_at IS NULL)),
            FOREIGN KEY (origin, original_transaction_id)
                REFERENCES original_transaction (origin, original_transaction_id)
        ) STRICT;
        CREATE UNIQUE INDEX team_revocation_that_stands
            ON team_revocation (origin, original_transaction_id) WHERE reinstated_at IS NULL;
        CREATE INDEX redeemed_transaction_of_original ON redeemed_transaction (origin, original_transaction_id);

        ALTER TABLE user ADD COLUMN is_app_account_token_settled INTEGER NOT NULL DEFAULT 1;
        """

    /// What was parked before this version has no claim in it, and waits for its own transaction alone.
    static let balanceTables = """
        ALTER TABLE redeemed_transaction ADD COLUMN expires_at INTEGER;
        ALTER TABLE redeemed_transaction ADD COLUMN grace_ends_at INTEGER;
        ALTER TABLE redeemed_transaction ADD COLUMN grace_stated_at INTEGER;

        ALTER TABLE parked_transaction ADD COLUMN expires_at INTEGER;
        ALTER TABLE parked_transaction ADD COLUMN original_transaction_id TEXT;
        ALTER TABLE parked_transaction ADD COLUMN claim BLOB;
        CREATE INDEX parked_transaction_of_original ON parked_transaction (origin, original_transaction_id);

        CREATE TABLE credit (
            origin TEXT NOT NULL,
            transaction_id TEXT NOT NULL,
            user_id INTEGER NOT NULL,
            balance TEXT NOT NULL CHECK (balance <> ''),
            amount INTEGER NOT NULL CHECK (amount > 0),
            PRIMARY KEY (origin, transaction_id),
            FOREIGN KEY (origin, transaction_id, user_id)
                REFERENCES redeemed_transaction (origin, transaction_id, user_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX credit_of_user ON credit (user_id);

        CREATE TABLE spending (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            spending_id TEXT NOT NULL UNIQUE,
            user_id INTEGER NOT NULL REFERENCES user (user_id),
            balance TEXT NOT NULL,
            amount INTEGER NOT NULL CHECK (amount > 0),
            reason TEXT NOT NULL CHECK (reason <> ''),
            spent_by TEXT NOT NULL,
            spent_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX spending_of_user ON spending (user_id);
        """

    /// A question is settled when it was answered, or never will be; those that came before this version are.
    static let appStoreTables = """
        ALTER TABLE notification ADD COLUMN settled_at INTEGER;
        UPDATE notification SET settled_at = received_at;
        CREATE INDEX notification_that_asks ON notification (signed_at)
            WHERE type = 'CONSUMPTION_REQUEST' AND settled_at IS NULL;

        CREATE TABLE reconciliation (
            subject TEXT PRIMARY KEY,
            reconciled_until INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
