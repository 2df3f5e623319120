import Ledger

extension LedgerFeature {
    package static let attributes = LedgerFeature(
        tables: [.attribute, .appAttribute],
        mergeHook: { former, user, database in
            try AttributeRecords(database: database).merge(former, into: user)
        })
}

extension Table {
    /// The last statement of the team about each attribute. `value`: null for a removed attribute, whose time an older statement
    /// must not undo. `is_public`: 1 for a statement through a door, with a key for all apps.
    fileprivate static let attribute = Table(
        name: "attribute", family: .userData,
        columns: [
            .integer("user_id"), .text("name", check: "name <> ''"), .text("value").optional, .integer("stated_at"),
            .integer("is_public", check: "is_public IN (0, 1)"),
        ],
        key: ["user_id", "name"], erasure: .deletion)

    /// The last statement about each attribute with the public keys of each app.
    fileprivate static let appAttribute = Table(
        name: "app_attribute", family: .userData,
        columns: [
            .integer("user_id"), .integer("app", check: "app > 0"), .text("name", check: "name <> ''"),
            .text("value").optional, .integer("stated_at"),
        ],
        key: ["user_id", "app", "name"], erasure: .deletion)
}
