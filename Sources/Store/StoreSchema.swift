import Commerce
import GRDB

/// The tables of the store's own database, and the migrations from every earlier version.
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
        migrator.registerMigration("2: what was sold, subscriptions, notifications, settings", migrate: separateSales)
        migrator.registerMigration("3: unfinished payments") { database in
            try database.execute(
                sql: """
                    CREATE INDEX payment_transaction_unfinished ON payment_transaction (identifier)
                        WHERE state <> 'finished';
                    """)
        }
        return migrator
    }

    /// Moves the sales from the queue into a table of their own.
    private static func separateSales(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE app_store_transaction (
                    transaction_id TEXT PRIMARY KEY,
                    original_transaction_id TEXT NOT NULL,
                    order_id TEXT NOT NULL,
                    account TEXT NOT NULL,
                    product_id TEXT NOT NULL,
                    purchase_date INTEGER NOT NULL,
                    record TEXT NOT NULL,
                    change INTEGER NOT NULL UNIQUE
                ) STRICT;
                CREATE INDEX app_store_transaction_by_original ON app_store_transaction (original_transaction_id);
                CREATE INDEX app_store_transaction_by_order ON app_store_transaction (order_id);
                CREATE INDEX app_store_transaction_by_account ON app_store_transaction (account);

                CREATE TABLE subscription (
                    original_transaction_id TEXT PRIMARY KEY,
                    account TEXT NOT NULL,
                    group_id TEXT NOT NULL,
                    due_date INTEGER,
                    record TEXT NOT NULL,
                    UNIQUE (account, group_id)
                ) STRICT;
                CREATE INDEX subscription_by_due_date ON subscription (due_date);

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

                CREATE TABLE team_key (
                    key_id TEXT PRIMARY KEY,
                    issuer_id TEXT NOT NULL,
                    public_key TEXT NOT NULL
                ) STRICT;

                CREATE TABLE store_state (
                    key TEXT PRIMARY KEY,
                    value TEXT NOT NULL
                ) STRICT;
                """)
        try copySales(database)
        try database.execute(
            sql: """
                CREATE TABLE queued (
                    identifier INTEGER PRIMARY KEY AUTOINCREMENT,
                    account TEXT NOT NULL,
                    product_id TEXT NOT NULL,
                    quantity INTEGER NOT NULL CHECK (quantity BETWEEN 1 AND 10),
                    app_account_token TEXT,
                    offer TEXT,
                    outcome TEXT NOT NULL,
                    state TEXT NOT NULL CHECK (
                        state IN ('purchasing', 'deferred', 'purchased', 'failed', 'restored', 'finished')),
                    error INTEGER,
                    transaction_id TEXT REFERENCES app_store_transaction (transaction_id),
                    CHECK ((transaction_id IS NOT NULL)
                        = (state IN ('purchased', 'restored') OR (state = 'finished' AND error IS NULL))),
                    CHECK ((error IS NOT NULL) = (state = 'failed' OR (state = 'finished' AND transaction_id IS NULL)))
                ) STRICT;
                INSERT INTO queued (identifier, account, product_id, quantity, outcome, state, error, transaction_id)
                    SELECT identifier, account, product_id, quantity, outcome, state, error, transaction_id
                    FROM payment_transaction;
                DROP TABLE payment_transaction;
                ALTER TABLE queued RENAME TO payment_transaction;
                CREATE INDEX payment_transaction_by_account ON payment_transaction (account);
                CREATE INDEX payment_transaction_by_transaction ON payment_transaction (transaction_id);
                """)
    }

    /// Copies the sales of version 1, which sold only non-consumables.
    private static func copySales(_ database: Database) throws {
        let rows = try Row.fetchAll(
            database, sql: "SELECT * FROM payment_transaction WHERE transaction_id IS NOT NULL ORDER BY identifier")
        for row in rows {
            let currency: String = row["currency"]
            try TransactionRecords(database: database).add(
                Transaction(
                    transactionIdentifier: row["transaction_id"],
                    originalTransactionIdentifier: row["original_transaction_id"],
                    orderIdentifier: "M" + (row["original_transaction_id"] as String).suffix(9),
                    webOrderLineItemIdentifier: nil, account: row["account"], productIdentifier: row["product_id"],
                    type: .nonConsumable, subscriptionGroupIdentifier: nil, quantity: row["quantity"],
                    purchaseDate: Timestamp(millisecondsSince1970: row["purchase_date"]),
                    originalPurchaseDate: Timestamp(millisecondsSince1970: row["original_purchase_date"]),
                    price: Price(milliunits: row["price"], currency: currency), offer: nil, reason: .purchase,
                    ownership: .purchased, storefrontCountryCode: currency == "KRW" ? "KOR" : "USA"))
        }
    }
}
