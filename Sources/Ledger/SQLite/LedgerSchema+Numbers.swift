/// The tables of version 8.
extension LedgerSchema {
    /// What the team gives is numbered for each user, what it takes back for each purchase, and what is spent has a name
    /// already: nobody waits for another's number, in any database.
    static let numberedTables = """
        CREATE TABLE new_team_grant (
            user_id INTEGER NOT NULL REFERENCES user (user_id),
            sequence INTEGER NOT NULL CHECK (sequence > 0),
            grant_id TEXT NOT NULL UNIQUE,
            collection TEXT NOT NULL,
            number INTEGER NOT NULL CHECK (number >= 0),
            reason TEXT NOT NULL CHECK (reason <> ''),
            granted_by TEXT NOT NULL,
            granted_at INTEGER NOT NULL,
            ends_at INTEGER CHECK (ends_at > granted_at),
            revoked_at INTEGER,
            revoked_by TEXT,
            revocation_reason TEXT,
            CHECK ((revoked_at IS NULL) = (revoked_by IS NULL) AND (revoked_at IS NULL) = (revocation_reason IS NULL)),
            PRIMARY KEY (user_id, sequence)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO new_team_grant
            SELECT user_id, row_number() OVER (PARTITION BY user_id ORDER BY sequence), grant_id, collection, number,
                reason, granted_by, granted_at, ends_at, revoked_at, revoked_by, revocation_reason
            FROM team_grant;

        CREATE TABLE new_team_revocation (
            origin TEXT NOT NULL,
            original_transaction_id TEXT NOT NULL,
            sequence INTEGER NOT NULL CHECK (sequence > 0),
            reason TEXT NOT NULL CHECK (reason <> ''),
            revoked_by TEXT NOT NULL,
            revoked_at INTEGER NOT NULL,
            reinstated_by TEXT,
            reinstated_at INTEGER,
            CHECK ((reinstated_by IS NULL) = (reinstated_at IS NULL)),
            PRIMARY KEY (origin, original_transaction_id, sequence),
            FOREIGN KEY (origin, original_transaction_id)
                REFERENCES original_transaction (origin, original_transaction_id)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO new_team_revocation
            SELECT origin, original_transaction_id,
                row_number() OVER (PARTITION BY origin, original_transaction_id ORDER BY sequence), reason, revoked_by,
                revoked_at, reinstated_by, reinstated_at
            FROM team_revocation;

        CREATE TABLE new_spending (
            user_id INTEGER NOT NULL REFERENCES user (user_id),
            spending_id TEXT NOT NULL,
            balance TEXT NOT NULL,
            amount INTEGER NOT NULL CHECK (amount > 0),
            reason TEXT NOT NULL CHECK (reason <> ''),
            spent_by TEXT NOT NULL,
            spent_at INTEGER NOT NULL,
            PRIMARY KEY (user_id, spending_id)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO new_spending
            SELECT user_id, spending_id, balance, amount, reason, spent_by, spent_at FROM spending;

        DROP TABLE team_grant;
        DROP TABLE team_revocation;
        DROP TABLE spending;
        ALTER TABLE new_team_grant RENAME TO team_grant;
        ALTER TABLE new_team_revocation RENAME TO team_revocation;
        ALTER TABLE new_spending RENAME TO spending;
        CREATE UNIQUE INDEX team_revocation_that_stands
            ON team_revocation (origin, original_transaction_id) WHERE reinstated_at IS NULL;
        """
}
