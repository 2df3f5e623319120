/// The tables of versions 3 to 6.
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

    /// A purchase moves to another user by one update, which the keys carry to all that stands on it. Transactions are numbered
    /// for each user.
    static let transferTables = """
        CREATE TABLE new_original_transaction (
            origin TEXT NOT NULL,
            original_transaction_id TEXT NOT NULL,
            user_id INTEGER NOT NULL REFERENCES user (user_id),
            transferred_at INTEGER,
            PRIMARY KEY (origin, original_transaction_id),
            UNIQUE (origin, original_transaction_id, user_id)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO new_original_transaction
            SELECT origin, original_transaction_id, user_id, NULL FROM original_transaction;

        CREATE TABLE new_redeemed_transaction (
            origin TEXT NOT NULL,
            transaction_id TEXT NOT NULL,
            original_transaction_id TEXT NOT NULL,
            user_id INTEGER NOT NULL,
            sequence INTEGER NOT NULL CHECK (sequence > 0),
            product_id TEXT NOT NULL,
            quantity INTEGER NOT NULL CHECK (quantity > 0),
            purchase_date INTEGER NOT NULL,
            revocation_date INTEGER,
            revocation_reason INTEGER,
            expires_at INTEGER,
            grace_ends_at INTEGER,
            grace_stated_at INTEGER,
            stated_at INTEGER NOT NULL,
            redeemed_at INTEGER NOT NULL,
            proof_digest BLOB NOT NULL CHECK (length(proof_digest) = 32),
            PRIMARY KEY (origin, transaction_id),
            UNIQUE (origin, transaction_id, user_id),
            UNIQUE (user_id, sequence),
            FOREIGN KEY (origin, original_transaction_id, user_id)
                REFERENCES new_original_transaction (origin, original_transaction_id, user_id) ON UPDATE CASCADE
        ) STRICT;
        INSERT INTO new_redeemed_transaction
            SELECT origin, transaction_id, original_transaction_id, user_id,
                row_number() OVER (PARTITION BY user_id ORDER BY sequence), product_id, quantity, purchase_date,
                revocation_date, revocation_reason, expires_at, grace_ends_at, grace_stated_at, stated_at, redeemed_at,
                proof_digest
            FROM redeemed_transaction ORDER BY sequence;

        CREATE TABLE new_entitlement (
            user_id INTEGER NOT NULL,
            collection TEXT NOT NULL,
            number INTEGER NOT NULL CHECK (number >= 0),
            origin TEXT NOT NULL,
            transaction_id TEXT NOT NULL,
            granted_at INTEGER NOT NULL,
            PRIMARY KEY (user_id, collection, number, origin, transaction_id),
            UNIQUE (origin, transaction_id, collection, number),
            FOREIGN KEY (origin, transaction_id, user_id)
                REFERENCES new_redeemed_transaction (origin, transaction_id, user_id) ON UPDATE CASCADE
        ) STRICT, WITHOUT ROWID;
        INSERT INTO new_entitlement SELECT user_id, collection, number, origin, transaction_id, granted_at FROM entitlement;

        CREATE TABLE new_credit (
            origin TEXT NOT NULL,
            transaction_id TEXT NOT NULL,
            user_id INTEGER NOT NULL,
            balance TEXT NOT NULL CHECK (balance <> ''),
            amount INTEGER NOT NULL CHECK (amount > 0),
            PRIMARY KEY (origin, transaction_id),
            FOREIGN KEY (origin, transaction_id, user_id)
                REFERENCES new_redeemed_transaction (origin, transaction_id, user_id)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO new_credit SELECT origin, transaction_id, user_id, balance, amount FROM credit;

        DROP TABLE credit;
        DROP TABLE entitlement;
        DROP TABLE redeemed_transaction;
        DROP TABLE original_transaction;
        ALTER TABLE new_original_transaction RENAME TO original_transaction;
        ALTER TABLE new_redeemed_transaction RENAME TO redeemed_transaction;
        ALTER TABLE new_entitlement RENAME TO entitlement;
        ALTER TABLE new_credit RENAME TO credit;
        CREATE INDEX redeemed_transaction_of_original ON redeemed_transaction (origin, original_transaction_id);
        CREATE INDEX credit_of_user ON credit (user_id);
        """
}
