import HTTPSupport

/// The tables of the local Play's own database.
enum PlaySchema: LocalSchema {
    typealias Failure = PlayError

    static let version = 3
    static let tables = """
        CREATE TABLE setting (
            name TEXT PRIMARY KEY,
            value ANY NOT NULL
        ) STRICT;

        \(ClockRecords.table)

        CREATE TABLE app (
            package_name TEXT PRIMARY KEY
        ) STRICT;

        CREATE TABLE catalog_resource (
            package_name TEXT NOT NULL REFERENCES app,
            kind TEXT NOT NULL,
            path TEXT NOT NULL,
            record TEXT NOT NULL,
            PRIMARY KEY (package_name, kind, path)
        ) STRICT;

        CREATE TABLE service_account (
            email TEXT PRIMARY KEY,
            record TEXT NOT NULL
        ) STRICT;

        CREATE TABLE access_token (
            digest TEXT PRIMARY KEY,
            email TEXT NOT NULL REFERENCES service_account,
            scope TEXT NOT NULL,
            expires_at INTEGER NOT NULL
        ) STRICT;

        \(purchases("purchase", orderId: "TEXT UNIQUE"))

        \(purchases("subscription_purchase", orderId: "TEXT NOT NULL UNIQUE"))

        CREATE TABLE notification (
            number INTEGER PRIMARY KEY,
            date INTEGER NOT NULL,
            account TEXT,
            record TEXT NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0,
            next_attempt INTEGER,
            not_before INTEGER,
            comes_after_next INTEGER NOT NULL DEFAULT 0,
            repeats INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX notification_due ON notification (number) WHERE next_attempt IS NOT NULL;

        CREATE TABLE external_transaction (
            package_name TEXT NOT NULL,
            identifier TEXT NOT NULL,
            record TEXT NOT NULL,
            PRIMARY KEY (package_name, identifier)
        ) STRICT;

        CREATE TABLE refund_review (
            order_id TEXT PRIMARY KEY,
            account TEXT NOT NULL,
            due_at INTEGER,
            record TEXT NOT NULL
        ) STRICT;
        CREATE INDEX refund_review_due ON refund_review (due_at) WHERE due_at IS NOT NULL;

        CREATE TABLE voided_purchase (
            number INTEGER PRIMARY KEY,
            package_name TEXT NOT NULL,
            voided_at INTEGER NOT NULL,
            is_partial INTEGER NOT NULL,
            is_subscription INTEGER NOT NULL,
            record TEXT NOT NULL
        ) STRICT;
        CREATE INDEX voided_purchase_by_date ON voided_purchase (package_name, voided_at);
        """

    /// The table of one kind of purchases (`KeptPurchase`).
    private static func purchases(_ name: String, orderId type: String) -> String {
        """
        CREATE TABLE \(name) (
            number INTEGER PRIMARY KEY,
            token TEXT NOT NULL UNIQUE,
            order_id \(type),
            package_name TEXT NOT NULL,
            product_id TEXT NOT NULL,
            account TEXT NOT NULL,
            due_at INTEGER,
            record TEXT NOT NULL
        ) STRICT;
        CREATE INDEX \(name)_by_account ON \(name) (account, package_name, product_id);
        CREATE INDEX \(name)_due ON \(name) (due_at) WHERE due_at IS NOT NULL;
        """
    }
}
