/// The tables of users, their names and their account tokens.
extension Table {
    static let users = [user, userName, accountToken, userMerge, app]

    /// The users. `audit_number` and `audit_digest` are those of the user's last audit record. `last_transaction` and
    /// `last_grant` are the last numbers of the user's transactions and grants. `version` is the number of writes for the user.
    /// If two writers are concurrent, one finds another version and retries.
    private static let user = Table(
        name: "user", family: .userData,
        columns: [
            .integer("user_id"), .text("issuer"), .text("name", check: "name <> ''"),
            .text("app_account_token", check: "length(app_account_token) = 36"),
            .integer("is_app_account_token_settled"), .integer("first_seen_at"),
            .integer("version"),
            .integer("last_transaction"), .integer("last_grant"), .integer("audit_number"),
            .blob("audit_digest", count: 32),
        ],
        key: ["user_id"])

    /// The users by their names. `aliased_at`: the time at which a name became an alias of the user; null for the user's own
    /// name.
    private static let userName = Table(
        name: "user_name", family: .globalKey,
        columns: [
            .text("name", check: "name <> ''"), .text("issuer"), .integer("user_id"),
            .integer("aliased_at").optional,
        ],
        key: ["name", "issuer"],
        indexes: [
            Index(
                name: "user_name_that_aliases", columns: ["user_id"], condition: "aliased_at IS NOT NULL")
        ],
        owner: Owner("user", by: "A name", alias: "aliased_at"))

    /// The users by account tokens. `aliased_at`: the time at which the token of a merged user became this user's; null for the
    /// user's own token.
    private static let accountToken = Table(
        name: "account_token", family: .globalKey,
        columns: [
            .text("app_account_token", check: "length(app_account_token) = 36"), .integer("user_id"),
            .integer("aliased_at").optional,
        ],
        key: ["app_account_token"],
        indexes: [
            Index(
                name: "account_token_that_aliases", columns: ["user_id"], condition: "aliased_at IS NOT NULL")
        ],
        owner: Owner("user", by: "An account token", alias: "aliased_at"))

    /// The users who were merged into a user. The merged ones are tombstones, which keep their audit logs.
    private static let userMerge = Table(
        name: "user_merge", family: .userData,
        columns: [.integer("user_id"), .integer("former_id"), .integer("merged_at")], key: ["user_id", "former_id"],
        references: [Reference(columns: ["user_id"], table: "user")],
        indexes: [Index(name: "user_merge_of_former", columns: ["former_id"])], merge: .byRule)

    /// The numbers of bundle identifiers.
    private static let app = Table(
        name: "app", family: .everywhere, columns: [.integer("app", check: "app > 0"), .text("bundle_id")],
        key: ["app"], unique: [["bundle_id"]])
}
