import Commerce
import Foundation
import GRDB

/// The ledger's tables, and the way to them from every earlier version.
///
/// Their keys make a second owner impossible, whatever the code above does: `original_transaction` holds one user for each
/// original purchase, and every redeemed transaction refers to that very pair.
struct LedgerSchema {
    /// What the newest migration makes.
    static let version = 15

    let randomness: Randomness

    var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: redeemed transactions and their entitlements") { database in
            try database.execute(sql: Self.firstTables)
        }
        migrator.registerMigration("2: users with an account token, and keys of callers") { database in
            try database.execute(sql: Self.userTables)
            for name in try String.fetchAll(database, sql: "SELECT DISTINCT user FROM old_original_transaction") {
                // As it was written, whatever would be a name today: nobody's purchases stay behind.
                try database.execute(
                    sql: "INSERT INTO user (issuer, name, app_account_token, first_seen_at) VALUES ('', ?, ?, 0)",
                    arguments: [name, UUID(randomness: randomness).lowercasedString])
            }
            try database.execute(sql: Self.moveToUserTables)
        }
        migrator.registerMigration("3: what the team gives and takes back") { database in
            try database.execute(sql: Self.teamTables)
        }
        migrator.registerMigration("4: what ends, and what is spent") { database in
            try database.execute(sql: Self.balanceTables)
        }
        migrator.registerMigration("5: what the App Store asks, and was asked") { database in
            try database.execute(sql: Self.appStoreTables)
        }
        migrator.registerMigration("6: purchases that move") { database in
            try database.execute(sql: Self.transferTables)
        }
        migrator.registerMigration("7: what happened to what users own") { database in
            try database.execute(sql: Self.auditTables)
            try writeAudit(of: database)
        }
        migrator.registerMigration("8: what the team does, numbered for each user and purchase") { database in
            try database.execute(sql: Self.numberedTables)
        }
        migrator.registerMigration("9: accounts and sessions") { database in
            try database.execute(sql: Self.accountTables)
        }
        migrator.registerMigration("10: profiles and wishes") { database in
            try database.execute(sql: Self.profileTables)
        }
        migrator.registerMigration("11: members of the seed's own app") { database in
            try database.execute(sql: Self.memberTable)
        }
        migrator.registerMigration("12: changes for who listens, and whom answers are about") { database in
            try database.execute(sql: Self.changeTable)
        }
        migrator.registerMigration("13: webhooks") { database in
            try database.execute(sql: Self.webhookTables)
        }
        migrator.registerMigration("14: the catalog beside its files") { database in
            try database.execute(sql: Self.catalogTables)
        }
        migrator.registerMigration("15: requests of spendings, and names of any spelling") { database in
            try database.execute(sql: Self.requestTables)
        }
        return migrator
    }

    private static let firstTables = """
        CREATE TABLE original_transaction (
            origin TEXT NOT NULL,
            original_transaction_id TEXT NOT NULL,
            user TEXT NOT NULL,
            PRIMARY KEY (origin, original_transaction_id),
            UNIQUE (origin, original_transaction_id, user)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE redeemed_transaction (
            origin TEXT NOT NULL,
            transaction_id TEXT NOT NULL,
            original_transaction_id TEXT NOT NULL,
            user TEXT NOT NULL,
            product_id TEXT NOT NULL,
            quantity INTEGER NOT NULL CHECK (quantity > 0),
            purchase_date INTEGER NOT NULL,
            revocation_date INTEGER,
            redeemed_at INTEGER NOT NULL,
            proof_digest BLOB NOT NULL CHECK (length(proof_digest) = 32),
            PRIMARY KEY (origin, transaction_id),
            UNIQUE (origin, transaction_id, user),
            FOREIGN KEY (origin, original_transaction_id, user)
                REFERENCES original_transaction (origin, original_transaction_id, user)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE entitlement (
            user TEXT NOT NULL,
            collection TEXT NOT NULL,
            number INTEGER NOT NULL CHECK (number >= 0),
            origin TEXT NOT NULL,
            transaction_id TEXT NOT NULL,
            granted_at INTEGER NOT NULL,
            PRIMARY KEY (user, collection, number, origin, transaction_id),
            UNIQUE (origin, transaction_id, collection, number),
            FOREIGN KEY (origin, transaction_id, user)
                REFERENCES redeemed_transaction (origin, transaction_id, user)
        ) STRICT, WITHOUT ROWID;
        """

    /// The numbers of `redeemed_transaction.sequence` grow with time, and none is used twice. `stated_at` is when the statement
    /// was signed that says whether a transaction stands; `parked_transaction` keeps such statements about transactions that
    /// nobody has claimed yet.
    private static let userTables = """
        ALTER TABLE entitlement RENAME TO old_entitlement;
        ALTER TABLE redeemed_transaction RENAME TO old_redeemed_transaction;
        ALTER TABLE original_transaction RENAME TO old_original_transaction;

        CREATE TABLE user (
            user_id INTEGER PRIMARY KEY AUTOINCREMENT,
            issuer TEXT NOT NULL,
            name TEXT NOT NULL CHECK (name <> ''),
            app_account_token TEXT NOT NULL UNIQUE CHECK (length(app_account_token) = 36),
            first_seen_at INTEGER NOT NULL,
            UNIQUE (issuer, name)
        ) STRICT;

        CREATE TABLE original_transaction (
            origin TEXT NOT NULL,
            original_transaction_id TEXT NOT NULL,
            user_id INTEGER NOT NULL REFERENCES user (user_id),
            PRIMARY KEY (origin, original_transaction_id),
            UNIQUE (origin, original_transaction_id, user_id)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE redeemed_transaction (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            origin TEXT NOT NULL,
            transaction_id TEXT NOT NULL,
            original_transaction_id TEXT NOT NULL,
            user_id INTEGER NOT NULL,
            product_id TEXT NOT NULL,
            quantity INTEGER NOT NULL CHECK (quantity > 0),
            purchase_date INTEGER NOT NULL,
            revocation_date INTEGER,
            revocation_reason INTEGER,
            stated_at INTEGER NOT NULL,
            redeemed_at INTEGER NOT NULL,
            proof_digest BLOB NOT NULL CHECK (length(proof_digest) = 32),
            UNIQUE (origin, transaction_id),
            UNIQUE (origin, transaction_id, user_id),
            FOREIGN KEY (origin, original_transaction_id, user_id)
                REFERENCES original_transaction (origin, original_transaction_id, user_id)
        ) STRICT;
        CREATE INDEX redeemed_transaction_of_user ON redeemed_transaction (user_id, sequence);

        CREATE TABLE entitlement (
            user_id INTEGER NOT NULL,
            collection TEXT NOT NULL,
            number INTEGER NOT NULL CHECK (number >= 0),
            origin TEXT NOT NULL,
            transaction_id TEXT NOT NULL,
            granted_at INTEGER NOT NULL,
            PRIMARY KEY (user_id, collection, number, origin, transaction_id),
            UNIQUE (origin, transaction_id, collection, number),
            FOREIGN KEY (origin, transaction_id, user_id)
                REFERENCES redeemed_transaction (origin, transaction_id, user_id)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE parked_transaction (
            origin TEXT NOT NULL,
            transaction_id TEXT NOT NULL,
            revocation_date INTEGER,
            revocation_reason INTEGER,
            stated_at INTEGER NOT NULL,
            PRIMARY KEY (origin, transaction_id)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE notification (
            origin TEXT NOT NULL,
            notification_uuid TEXT NOT NULL,
            type TEXT NOT NULL,
            subtype TEXT,
            transaction_id TEXT,
            signed_at INTEGER NOT NULL,
            received_at INTEGER NOT NULL,
            proof_digest BLOB NOT NULL CHECK (length(proof_digest) = 32),
            PRIMARY KEY (origin, notification_uuid)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE kept_answer (
            caller TEXT NOT NULL,
            idempotency_key TEXT NOT NULL,
            request_digest BLOB NOT NULL CHECK (length(request_digest) = 32),
            status INTEGER NOT NULL,
            content_type TEXT NOT NULL,
            body BLOB NOT NULL,
            kept_at INTEGER NOT NULL,
            PRIMARY KEY (caller, idempotency_key)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX kept_answer_by_age ON kept_answer (kept_at);

        CREATE TABLE api_key (
            key_id TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            scopes TEXT NOT NULL,
            secret_digest BLOB NOT NULL CHECK (length(secret_digest) = 32),
            created_at INTEGER NOT NULL,
            revoked_at INTEGER
        ) STRICT, WITHOUT ROWID;
        """

    private static let moveToUserTables = """
        INSERT INTO original_transaction
            SELECT origin, original_transaction_id, user_id
            FROM old_original_transaction AS old JOIN user ON user.issuer = '' AND user.name = old.user;
        INSERT INTO redeemed_transaction (
                origin, transaction_id, original_transaction_id, user_id, product_id, quantity, purchase_date,
                revocation_date, stated_at, redeemed_at, proof_digest)
            SELECT origin, transaction_id, original_transaction_id, user_id, product_id, quantity, purchase_date,
                revocation_date, coalesce(revocation_date, purchase_date), redeemed_at, proof_digest
            FROM old_redeemed_transaction AS old JOIN user ON user.issuer = '' AND user.name = old.user
            ORDER BY redeemed_at, origin, transaction_id;
        INSERT INTO entitlement
            SELECT user_id, collection, number, origin, transaction_id, granted_at
            FROM old_entitlement AS old JOIN user ON user.issuer = '' AND user.name = old.user;
        DROP TABLE old_entitlement;
        DROP TABLE old_redeemed_transaction;
        DROP TABLE old_original_transaction;
        """
}
