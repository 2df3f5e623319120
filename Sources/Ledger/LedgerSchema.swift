import GRDB

/// The ledger's tables, and the way to them from every earlier version.
///
/// Their keys make a second owner impossible, whatever the code above does: `original_transaction` holds one user for each
/// original purchase, and every redeemed transaction refers to that very pair.
enum LedgerSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: redeemed transactions and their entitlements") { database in
            try database.execute(
                sql: """
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
                    """)
        }
        return migrator
    }
}
