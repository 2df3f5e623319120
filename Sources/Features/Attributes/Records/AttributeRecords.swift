import Ledger

/// The statements on attributes, inside the caller's transaction.
struct AttributeRecords {
    let database: any LedgerDatabase

    /// The number that stands for the team instead of an app.
    static let team: Int64 = 0

    /// All attributes of a user, removed ones included, by the number of the app whose public key has stated them.
    func attributes(of user: Int64) throws -> [Int64: [Attribute]] {
        guard try database.has("app_attribute") else { return [:] }
        var attributes: [Int64: [Attribute]] = [:]
        let rows = try database.rows(
            """
            SELECT \(Self.team) AS app, name, value, stated_at, is_public FROM attribute WHERE user_id = $1
            UNION ALL
            SELECT app, name, value, stated_at, 1 FROM app_attribute WHERE user_id = $1
            """, [user])
        for row in rows {
            attributes[try row["app"], default: []].append(
                Attribute(
                    stored: try row["name"], value: try row["value"], statedAt: try row["stated_at"],
                    isPublic: try row["is_public"]))
        }
        return attributes
    }

    /// Moves the attributes of a user to another. The newest statement of each side about each attribute counts.
    func merge(_ former: Int64, into user: Int64) throws {
        let moved = try attributes(of: former)
        guard !moved.isEmpty else { return }
        let present = try attributes(of: user)
        for (app, attributes) in moved {
            try delete(attributes, of: former, app)
            try write((present[app] ?? []).merged(with: attributes), of: user, app)
        }
    }

    func write(_ update: AttributeUpdate, of user: Int64, _ app: Int64) throws {
        try delete(update.deleted + update.written, of: user, app)
        if app == Self.team {
            try database.insert(
                into: "attribute", ["user_id", "name", "value", "stated_at", "is_public"],
                update.written.map { [user, $0.name, $0.value, $0.statedAt, $0.isPublic] })
        } else {
            try database.insert(
                into: "app_attribute", ["user_id", "app", "name", "value", "stated_at"],
                update.written.map { [user, app, $0.name, $0.value, $0.statedAt] })
        }
    }

    private func delete(_ attributes: [Attribute], of user: Int64, _ app: Int64) throws {
        if app == Self.team {
            try database.delete(from: "attribute", where: ["user_id", "name"], attributes.map { [user, $0.name] })
        } else {
            try database.delete(
                from: "app_attribute", where: ["user_id", "app", "name"], attributes.map { [user, app, $0.name] })
        }
    }
}
