import GRDB

/// The SQL statements on retention messaging. They run inside the caller's transaction of the store's database.
struct MessagingRecords {
    /// The kind of a value. Names are unique within a kind.
    enum Kind: String {
        case image
        case message
        /// Named after the product and the locale.
        case defaultMessage
        /// A single value.
        case realtimeURL
        case performanceTest
    }

    let database: Database

    func value(_ kind: Kind, _ name: String) throws -> String? {
        try String.fetchOne(
            database, sql: "SELECT value FROM messaging WHERE kind = ? AND name = ?",
            arguments: [kind.rawValue, name])
    }

    /// Each name with its value, in the order of their first insertion.
    func all(_ kind: Kind) throws -> [(name: String, value: String)] {
        try Row.fetchAll(
            database, sql: "SELECT name, value FROM messaging WHERE kind = ? ORDER BY rowid",
            arguments: [kind.rawValue]
        ).map { ($0["name"], $0["value"]) }
    }

    func set(_ kind: Kind, _ name: String, _ value: String) throws {
        try database.execute(
            sql: """
                INSERT INTO messaging (kind, name, value) VALUES (?, ?, ?)
                ON CONFLICT (kind, name) DO UPDATE SET value = excluded.value
                """,
            arguments: [kind.rawValue, name, value])
    }

    /// - Returns: True if the value existed.
    func remove(_ kind: Kind, _ name: String) throws -> Bool {
        try database.execute(
            sql: "DELETE FROM messaging WHERE kind = ? AND name = ?", arguments: [kind.rawValue, name])
        return database.changesCount > 0
    }
}
