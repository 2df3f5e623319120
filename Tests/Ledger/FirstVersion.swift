import Foundation
import GRDB

/// Writes a ledger as the first version of Till did: purchases of alice, of bob, whose purchase was refunded, and of somebody
/// whose name is none today.
func makeLedgerOfTheFirstVersion(at file: URL) throws {
    try DatabaseQueue(path: file.path).write { database in
        try database.execute(
            sql: """
                CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                INSERT INTO grdb_migrations VALUES ('1: redeemed transactions and their entitlements');
                CREATE TABLE original_transaction (
                    origin TEXT NOT NULL, original_transaction_id TEXT NOT NULL, user TEXT NOT NULL,
                    PRIMARY KEY (origin, original_transaction_id),
                    UNIQUE (origin, original_transaction_id, user)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE redeemed_transaction (
                    origin TEXT NOT NULL, transaction_id TEXT NOT NULL, original_transaction_id TEXT NOT NULL,
                    user TEXT NOT NULL, product_id TEXT NOT NULL, quantity INTEGER NOT NULL,
                    purchase_date INTEGER NOT NULL, revocation_date INTEGER, redeemed_at INTEGER NOT NULL,
                    proof_digest BLOB NOT NULL,
                    PRIMARY KEY (origin, transaction_id), UNIQUE (origin, transaction_id, user),
                    FOREIGN KEY (origin, original_transaction_id, user)
                        REFERENCES original_transaction (origin, original_transaction_id, user)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE entitlement (
                    user TEXT NOT NULL, collection TEXT NOT NULL, number INTEGER NOT NULL, origin TEXT NOT NULL,
                    transaction_id TEXT NOT NULL, granted_at INTEGER NOT NULL,
                    PRIMARY KEY (user, collection, number, origin, transaction_id),
                    UNIQUE (origin, transaction_id, collection, number),
                    FOREIGN KEY (origin, transaction_id, user)
                        REFERENCES redeemed_transaction (origin, transaction_id, user)
                ) STRICT, WITHOUT ROWID;
                INSERT INTO original_transaction VALUES ('local/Sandbox', '1', 'alice'), ('local/Sandbox', '2', 'bob'),
                    ('local/Sandbox', '4', 'no name today');
                INSERT INTO redeemed_transaction VALUES
                    ('local/Sandbox', '1', '1', 'alice', 'p', 1, 5, NULL, 10, zeroblob(32)),
                    ('local/Sandbox', '3', '1', 'alice', 'p', 1, 5, NULL, 30, zeroblob(32)),
                    ('local/Sandbox', '2', '2', 'bob', 'p', 1, 5, 6, 20, zeroblob(32));
                INSERT INTO entitlement VALUES
                    ('alice', 'sprout', 1, 'local/Sandbox', '1', 10), ('bob', 'sprout', 1, 'local/Sandbox', '2', 20);
                """)
    }
}
