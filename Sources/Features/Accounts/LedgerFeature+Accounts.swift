import Ledger

extension LedgerFeature {
    /// The accounts of users with the service itself.
    package static let accounts = LedgerFeature(tables: [.accountEmail, .account, .session])
}

extension Table {
    fileprivate static let accountEmail = Table(
        name: "account_email", family: .globalKey, columns: [.text("email_lowercase"), .integer("user_id")],
        key: ["email_lowercase"], owner: Owner("account", by: "An e-mail address"))

    /// An account. The lower-case form of the e-mail address identifies it.
    fileprivate static let account = Table(
        name: "account", family: .userData,
        columns: [
            .integer("user_id"), .text("email"), .text("email_lowercase"), .text("password_hash"),
            .integer("created_at"), .integer("email_verified_at").optional,
        ],
        key: ["user_id"], references: [Reference(columns: ["user_id"], table: "user")], erasure: .deletion)

    /// A session. The ledger stores only the digests of tokens. The previous access token is valid until it expires; the
    /// previous refresh token is not.
    fileprivate static let session = Table(
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
            Index(name: "session_by_end", columns: ["ends_at"])
        ],
        erasure: .deletion, restoration: .sessionDeletion)
}
