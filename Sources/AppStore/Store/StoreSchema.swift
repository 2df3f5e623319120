import Foundation
import GRDB
import Proofs

/// The tables of the store's own database. Their version is its `user_version`.
enum StoreSchema {
    private static let version = 1

    /// Refuses a file of another version, and changes no byte of it. A file that cannot be read passes: the opening for writing
    /// reports its fault.
    static func checkVersion(of file: URL) throws(StoreError) {
        var configuration = Configuration()
        configuration.readonly = true
        guard let database = try? DatabaseQueue(path: file.path, configuration: configuration) else { return }
        let isOther = try? database.read(isOfOtherVersion)
        try? database.close()
        if isOther == true { throw .storage(StorageFault(cause: .otherVersion, path: file.path)) }
    }

    /// Creates the tables of a new database.
    static func prepare(_ database: Database, path: String) throws {
        guard try !isOfOtherVersion(database) else {
            throw StoreError.storage(StorageFault(cause: .otherVersion, path: path))
        }
        guard try found(in: database) == 0 else { return }
        try database.execute(sql: tables)
        try database.execute(sql: "PRAGMA user_version = \(version)")
    }

    private static func found(in database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    }

    private static func isOfOtherVersion(_ database: Database) throws -> Bool {
        let found = try found(in: database)
        guard found == 0 else { return found != version }
        return try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") != 0
    }

    private static let tables = """
        CREATE TABLE account_clock (
            account TEXT PRIMARY KEY,
            time_offset INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE app_store_transaction (
            transaction_id TEXT PRIMARY KEY,
            original_transaction_id TEXT NOT NULL,
            order_id TEXT NOT NULL,
            account TEXT NOT NULL,
            product_id TEXT NOT NULL,
            purchase_date INTEGER NOT NULL,
            shared_transaction_id TEXT,
            record TEXT NOT NULL,
            refund_requested INTEGER NOT NULL DEFAULT 0,
            change INTEGER NOT NULL UNIQUE
        ) STRICT;
        CREATE INDEX app_store_transaction_by_original ON app_store_transaction (original_transaction_id);
        CREATE INDEX app_store_transaction_by_order ON app_store_transaction (order_id);
        CREATE INDEX app_store_transaction_by_account ON app_store_transaction (account);
        CREATE INDEX app_store_transaction_by_shared ON app_store_transaction (shared_transaction_id)
            WHERE shared_transaction_id IS NOT NULL;

        CREATE TABLE subscription (
            original_transaction_id TEXT PRIMARY KEY,
            account TEXT NOT NULL,
            group_id TEXT NOT NULL,
            shared_original_transaction_id TEXT,
            due_date INTEGER,
            record TEXT NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX subscription_by_group ON subscription (account, group_id)
            WHERE shared_original_transaction_id IS NULL;
        CREATE INDEX subscription_by_account ON subscription (account);
        CREATE INDEX subscription_by_shared ON subscription (shared_original_transaction_id)
            WHERE shared_original_transaction_id IS NOT NULL;
        CREATE INDEX subscription_by_due_date ON subscription (due_date);

        CREATE TABLE family_member (
            account TEXT PRIMARY KEY,
            organizer TEXT NOT NULL
        ) STRICT;
        CREATE INDEX family_member_by_organizer ON family_member (organizer);

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

        CREATE TABLE seat_claim (
            seat_claim_id TEXT PRIMARY KEY,
            original_transaction_id TEXT NOT NULL,
            request_id TEXT NOT NULL,
            app_transaction_id TEXT,
            UNIQUE (original_transaction_id, request_id)
        ) STRICT;

        CREATE TABLE team_key (
            key_id TEXT PRIMARY KEY,
            issuer_id TEXT NOT NULL,
            public_key TEXT NOT NULL
        ) STRICT;

        CREATE TABLE used_nonce (
            nonce TEXT PRIMARY KEY
        ) STRICT;

        CREATE TABLE store_state (
            key TEXT PRIMARY KEY,
            value TEXT NOT NULL
        ) STRICT;

        CREATE TABLE payment_transaction (
            identifier INTEGER PRIMARY KEY AUTOINCREMENT,
            account TEXT NOT NULL,
            product_id TEXT NOT NULL,
            quantity INTEGER NOT NULL CHECK (quantity >= 1),
            app_account_token TEXT,
            billing_plan TEXT,
            offer TEXT,
            advanced_commerce TEXT,
            outcome TEXT NOT NULL,
            state TEXT NOT NULL CHECK (
                state IN ('purchasing', 'deferred', 'purchased', 'failed', 'restored', 'finished')),
            error INTEGER,
            transaction_id TEXT REFERENCES app_store_transaction (transaction_id),
            CHECK ((transaction_id IS NOT NULL)
                = (state IN ('purchased', 'restored') OR (state = 'finished' AND error IS NULL))),
            CHECK ((error IS NOT NULL) = (state = 'failed' OR (state = 'finished' AND transaction_id IS NULL)))
        ) STRICT;
        CREATE INDEX payment_transaction_by_account ON payment_transaction (account);
        CREATE INDEX payment_transaction_by_transaction ON payment_transaction (transaction_id);
        CREATE INDEX payment_transaction_unfinished ON payment_transaction (identifier) WHERE state <> 'finished';
        """
}

extension Database {
    /// Inserts a row.
    ///
    /// - Parameter key: The columns of a unique constraint. A row with the same values in them is updated instead.
    func insert(
        _ values: KeyValuePairs<String, (any DatabaseValueConvertible)?>,
        into table: String,
        replacing key: String? = nil
    ) throws {
        let columns = values.map(\.key)
        let updates = columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        try execute(
            sql: "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(places))"
                + (key.map { " ON CONFLICT (\($0)) DO UPDATE SET \(updates)" } ?? ""),
            arguments: StatementArguments(values.map(\.value)))
    }

    /// The JSON records in the first column of a query.
    func records<Value: Decodable>(_ request: SQLRequest<String>) throws -> [Value] {
        try request.fetchAll(self).map { try StoreRecord.value($0) }
    }
}

/// A record of the store's database as JSON.
enum StoreRecord {
    static func text(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    static func value<Value: Decodable>(_ text: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }
}

/// A column of type `INTEGER`, in milliseconds since 1970.
extension Timestamp: DatabaseValueConvertible {
    public var databaseValue: DatabaseValue { millisecondsSince1970.databaseValue }

    public static func fromDatabaseValue(_ value: DatabaseValue) -> Timestamp? {
        Int64.fromDatabaseValue(value).map(Timestamp.init(millisecondsSince1970:))
    }
}
