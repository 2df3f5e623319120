import Ledger

extension LedgerFeature {
    /// The profiles and wishes of users.
    package static let profiles = LedgerFeature(tables: [.profile, .chosenItem, .wish])
}

extension Table {
    fileprivate static let profile = Table(
        name: "profile", family: .userData, columns: [.integer("user_id"), .text("nickname", check: "nickname <> ''")],
        key: ["user_id"], erasure: .deletion, merge: .move)

    /// The chosen items. A choice stays after the user loses the item, and applies only while the user owns it.
    fileprivate static let chosenItem = Table(
        name: "chosen_item", family: .userData,
        columns: [.integer("user_id"), .text("collection"), .integer("number", check: "number >= 0")],
        key: ["user_id", "collection"], erasure: .deletion, merge: .move
    )

    fileprivate static let wish = Table(
        name: "wish", family: .userData, columns: [.integer("user_id"), .text("product_id"), .integer("wished_at")],
        key: ["user_id", "product_id"], erasure: .deletion, merge: .move
    )
}
