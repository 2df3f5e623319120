import GRDB

/// The store's clock and settings, inside a transaction of its database that the caller holds.
struct StateRecords {
    let database: Database

    /// How far the store's clock is ahead of the machine's, in milliseconds.
    func offset() throws -> Int64 {
        try value("clock offset").flatMap { Int64($0) } ?? 0
    }

    func setOffset(_ milliseconds: Int64) throws { try set("clock offset", String(milliseconds)) }

    /// nil until somebody has changed them.
    func settings() throws -> StoreSettings? {
        try value("settings").map { try StoreRecord.value($0) }
    }

    func setSettings(_ settings: StoreSettings) throws { try set("settings", try StoreRecord.text(settings)) }

    /// What shall go wrong with the next notifications, one for each.
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
