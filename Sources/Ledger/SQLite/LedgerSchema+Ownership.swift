import Commerce
import GRDB

/// The tables of versions 6 and 7.
extension LedgerSchema {
    /// A purchase moves to another user by one update, which the keys carry to all that stands on it. Transactions are numbered
    /// for each user. `named_by` is the transaction whose account token says whose the purchase is, `named_at` when it was
    /// bought, and `named_stated_at` when that was said.
    static let transferTables = """
        CREATE TABLE new_original_transaction (
            origin TEXT NOT NULL,
            original_transaction_id TEXT NOT NULL,
            user_id INTEGER NOT NULL REFERENCES user (user_id),
            transferred_at INTEGER,
            named_at INTEGER,
            named_by TEXT,
            named_stated_at INTEGER,
            CHECK ((named_at IS NULL) = (named_by IS NULL) AND (named_at IS NULL) = (named_stated_at IS NULL)),
            PRIMARY KEY (origin, original_transaction_id),
            UNIQUE (origin, original_transaction_id, user_id)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO new_original_transaction
            SELECT origin, original_transaction_id, user_id, NULL, NULL, NULL, NULL FROM original_transaction;

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
                REFERENCES new_redeemed_transaction (origin, transaction_id, user_id) ON UPDATE CASCADE
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

    /// An entry is never changed and never taken out; only the text of a reason can be erased. A refusal is written down once
    /// for each transaction and reason, however often it is met.
    static let auditTables = """
        CREATE TABLE audit (
            user_id INTEGER NOT NULL REFERENCES user (user_id),
            number INTEGER NOT NULL CHECK (number > 0),
            happened_at INTEGER NOT NULL,
            event TEXT NOT NULL,
            actor TEXT NOT NULL,
            origin TEXT,
            reference TEXT NOT NULL,
            subject TEXT NOT NULL,
            reason TEXT,
            reason_salt BLOB,
            reason_digest BLOB CHECK (length(reason_digest) = 32),
            digest BLOB NOT NULL CHECK (length(digest) = 32),
            PRIMARY KEY (user_id, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE refusal (
            user_id INTEGER NOT NULL REFERENCES user (user_id),
            origin TEXT NOT NULL,
            transaction_id TEXT NOT NULL,
            reason TEXT NOT NULL,
            PRIMARY KEY (user_id, origin, transaction_id, reason)
        ) STRICT, WITHOUT ROWID;
        CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit BEGIN
            SELECT RAISE(ABORT, 'The audit log is kept.');
        END;
        CREATE TRIGGER audit_is_not_rewritten BEFORE UPDATE ON audit
        WHEN new.reason IS NOT NULL OR new.reason_salt IS NOT NULL OR (
            old.user_id, old.number, old.happened_at, old.event, old.actor, old.origin, old.reference, old.subject,
            old.reason_digest, old.digest
        ) IS NOT (
            new.user_id, new.number, new.happened_at, new.event, new.actor, new.origin, new.reference, new.subject,
            new.reason_digest, new.digest)
        BEGIN
            SELECT RAISE(ABORT, 'The audit log is not rewritten.');
        END;
        """

    /// What the ledger of an earlier version tells of its transactions.
    func writeAudit(of database: Database) throws {
        let database = SQLiteDatabase(database: database)
        let records = AuditRecords(database: database, randomness: randomness)
        var last: (user: Int64, sequence: Int64) = (0, 0)
        while true {
            let page = try database.rows(
                """
                SELECT * FROM redeemed_transaction WHERE (user_id, sequence) > ($1, $2)
                ORDER BY user_id, sequence LIMIT 1000
                """, [last.user, last.sequence])
            if page.isEmpty { return }
            for row in page {
                last = (try row["user_id"], try row["sequence"])
                let revocationDate: Timestamp? = try row["revocation_date"]
                try records.write(
                    AuditEntry(
                        happenedAt: try row["redeemed_at"], event: revocationDate == nil ? .granted : .revoked,
                        actor: .till, origin: try row["origin"], reference: try row["transaction_id"],
                        subject: try row["product_id"], reason: nil),
                    to: last.user)
            }
        }
    }
}
