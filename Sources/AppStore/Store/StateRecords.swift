import GRDB

/// The SQL statements on the clock and settings. They run inside the caller's transaction of the store's database.
struct StateRecords {
    let database: Database

    /// The offset of the store's clock to the machine's, in milliseconds.
    func offset() throws -> Int64 {
        try value("clock offset").flatMap { Int64($0) } ?? 0
    }

    func setOffset(_ milliseconds: Int64) throws { try set("clock offset", String(milliseconds)) }

    /// The changed settings; nil if nobody has changed them.
    func settings() throws -> StoreSettings? {
        try value("settings").map { try StoreRecord.value($0) }
    }

    func setSettings(_ settings: StoreSettings) throws { try set("settings", try StoreRecord.text(settings)) }

    /// The faults of the next notifications, one for each.
    func faults() throws -> [NotificationFault] {
        try value("notification faults").map { try StoreRecord.value($0) } ?? []
    }

    func setFaults(_ faults: [NotificationFault]) throws {
        try set("notification faults", try StoreRecord.text(faults))
    }

    private func value(_ key: String) throws -> String? {
        try String.fetchOne(database, sql: "SELECT value FROM store_state WHERE key = ?", arguments: [key])
    }

    private func set(_ key: String, _ value: String) throws {
        try database.execute(
            sql:
                "INSERT INTO store_state (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            arguments: [key, value])
    }
}
