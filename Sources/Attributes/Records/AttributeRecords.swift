import Ledger

/// The statements on attributes, inside the caller's transaction.
struct AttributeRecords {
    let database: any LedgerDatabase

    private static let columns = ["user_id", "name", "value", "stated_at", "is_public"]

    /// All attributes of a user, removed ones included, in the order of their names.
    func attributes(of user: Int64) throws -> [Attribute] {
        guard try database.has("attribute") else { return [] }
        return try database.rows("SELECT name, value, stated_at, is_public FROM attribute WHERE user_id = $1", [user])
            .map {
                Attribute(
                    stored: try $0["name"], value: try $0["value"], statedAt: try $0["stated_at"],
                    isPublic: try $0["is_public"])
            }
            .sorted { $0.key < $1.key }
    }

    /// Moves the attributes of a user to another. The newest statement about each attribute counts.
    func merge(_ former: Int64, into user: Int64) throws {
        let moved = try attributes(of: former)
        guard !moved.isEmpty else { return }
        try delete(moved, of: former)
        try write(try attributes(of: user).merged(with: moved), of: user)
    }

    func write(_ update: AttributeUpdate, of user: Int64) throws {
        try delete(update.deleted + update.written, of: user)
        try database.insert(
            into: "attribute", Self.columns,
            update.written.map { [user, $0.name, $0.value, $0.statedAt, $0.isPublic] })
    }

    private func delete(_ attributes: [Attribute], of user: Int64) throws {
        try database.delete(from: "attribute", where: ["user_id", "name"], attributes.map { [user, $0.name] })
    }
}
