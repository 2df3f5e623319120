/// The tables of accounts, sessions and profiles.
extension Table {
    static let accounts = [accountEmail, account, session, profile, chosenItem, wish, member, userChange]

    private static let accountEmail = Table(
        name: "account_email", family: .globalKey, columns: [.text("email_lowercase"), .integer("user_id")],
        key: ["email_lowercase"])

    /// The lowercase form of an e-mail address tells accounts apart.
    private static let account = Table(
        name: "account", family: .userData,
        columns: [
            .integer("user_id"), .text("email"), .text("email_lowercase"), .text("password_hash"),
            .integer("created_at"),
        ],
        key: ["user_id"], references: [Reference(columns: ["user_id"], table: "user")])

    /// The ledger has the digests of tokens alone. The previous access token is valid until it ends; the previous refresh token
    /// is not.
    private static let session = Table(
        name: "session", family: .userData,
        columns: [
            .integer("user_id"), .blob("session_id", count: 16), .blob("refresh_id", count: 16),
            .blob("refresh_digest", count: 32), .blob("access_digest", count: 32),
            .blob("previous_access_digest", count: 32).optional, .integer("began_at"),
            .integer("ends_at", check: "ends_at > began_at"),
        ],
        key: ["user_id", "session_id"],
        references: [Reference(columns: ["user_id"], table: "account")],
        indexes: [
            Index(name: "session_by_identifier", columns: ["session_id"]),
            Index(name: "session_by_refresh_identifier", columns: ["refresh_id"]),
            Index(name: "session_by_end", columns: ["ends_at"]),
        ])

    private static let profile = Table(
        name: "profile", family: .userData, columns: [.integer("user_id"), .text("nickname", check: "nickname <> ''")],
        key: ["user_id"],
        references: [Reference(columns: ["user_id"], table: "user")])

    /// A choice outlives the item: it holds while the item is owned.
    private static let chosenItem = Table(
        name: "chosen_item", family: .userData,
        columns: [.integer("user_id"), .text("collection"), .integer("number", check: "number >= 0")],
        key: ["user_id", "collection"], references: [Reference(columns: ["user_id"], table: "user")])

    private static let wish = Table(
        name: "wish", family: .userData, columns: [.integer("user_id"), .text("product_id"), .integer("wished_at")],
        key: ["user_id", "product_id"], references: [Reference(columns: ["user_id"], table: "user")])

    /// The members of the seed app.
    private static let member = Table(
        name: "member", family: .userData,
        columns: [
            .integer("user_id"), .text("phone_number"), .text("email"), .text("fcm_token"), .text("birth"),
            .integer("gender"), .integer("joined_at"),
        ],
        key: ["user_id"], references: [Reference(columns: ["user_id"], table: "user")])

    /// The last changes of each user to their own profile, for listeners.
    private static let userChange = Table(
        name: "user_change", family: .userData,
        columns: [
            .integer("user_id"), .integer("number", check: "number > 0"), .text("kind"), .text("subject"),
            .integer("happened_at"),
        ],
        key: ["user_id", "number"], references: [Reference(columns: ["user_id"], table: "user")])
}
