import Ledger

extension LedgerFeature {
    /// The attributes of customers.
    package static let attributes = LedgerFeature(
        tables: [.attribute],
        mergeHook: { former, user, database in
            try AttributeRecords(database: database).merge(former, into: user)
        })
}

extension Table {
    /// The last statement about each attribute. `value`: null for a removed attribute, whose time an older statement must not
    /// undo. `is_public`: 1 for a statement with the public key of an app.
    fileprivate static let attribute = Table(
        name: "attribute", family: .userData,
        columns: [
            .integer("user_id"), .text("name", check: "name <> ''"), .text("value").optional, .integer("stated_at"),
            .integer("is_public", check: "is_public IN (0, 1)"),
        ],
        key: ["user_id", "name"], references: [Reference(columns: ["user_id"], table: "user")], erasure: .deletion)
}
