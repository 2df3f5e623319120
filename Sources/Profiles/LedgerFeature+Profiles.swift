import Ledger

extension LedgerFeature {
    /// How users show themselves, and what they wish for.
    package static let profiles = LedgerFeature(tables: [.profile, .chosenItem, .wish])
}

extension Table {
    fileprivate static let profile = Table(
        name: "profile", family: .userData, columns: [.integer("user_id"), .text("nickname", check: "nickname <> ''")],
        key: ["user_id"],
        references: [Reference(columns: ["user_id"], table: "user")], erasure: .deletion)

    /// A choice outlives the item: it holds while the item is owned.
    fileprivate static let chosenItem = Table(
        name: "chosen_item", family: .userData,
        columns: [.integer("user_id"), .text("collection"), .integer("number", check: "number >= 0")],
        key: ["user_id", "collection"], references: [Reference(columns: ["user_id"], table: "user")], erasure: .deletion
    )

    fileprivate static let wish = Table(
        name: "wish", family: .userData, columns: [.integer("user_id"), .text("product_id"), .integer("wished_at")],
        key: ["user_id", "product_id"], references: [Reference(columns: ["user_id"], table: "user")], erasure: .deletion
    )
}
