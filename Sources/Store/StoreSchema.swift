import Commerce
import GRDB

/// The tables of the store's own database, and the way to them from every earlier version.
enum StoreSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: payment transactions") { database in
            try database.execute(
                sql: """
                    CREATE TABLE payment_transaction (
                        identifier INTEGER PRIMARY KEY AUTOINCREMENT,
                        account TEXT NOT NULL,
                        product_id TEXT NOT NULL,
                        quantity INTEGER NOT NULL CHECK (quantity BETWEEN 1 AND 10),
                        outcome TEXT NOT NULL,
                        state TEXT NOT NULL CHECK (
                            state IN ('purchasing', 'deferred', 'purchased', 'failed', 'restored', 'finished')),
                        error INTEGER,
                        transaction_id TEXT UNIQUE,
                        original_transaction_id TEXT,
                        purchase_date INTEGER,
                        original_purchase_date INTEGER,
                        price INTEGER,
                        currency TEXT,
                        CHECK ((transaction_id IS NOT NULL)
                            = (state IN ('purchased', 'restored') OR (state = 'finished' AND error IS NULL))),
                        CHECK ((error IS NOT NULL) = (state = 'failed' OR (state = 'finished' AND transaction_id IS NULL))),
                        CHECK (transaction_id IS NULL OR (
                            original_transaction_id IS NOT NULL AND purchase_date IS NOT NULL
                            AND original_purchase_date IS NOT NULL AND price IS NOT NULL AND currency IS NOT NULL))
                    ) STRICT;

                    CREATE INDEX payment_transaction_by_account ON payment_transaction (account, product_id);
                    """)
        }
        return migrator
    }
}
