/// The tables of back ends: grants, revocations and spendings, API keys, kept answers.
extension Table {
    static let team = [
        teamGrant, teamRevocation, spending, keptAnswer, anySpelling, apiKey, reconciliation,
    ]

    /// Grants are numbered for each user, and revocations for each purchase: nobody waits for another's number.
    private static let teamGrant = Table(
        name: "team_grant",
        columns: [
            .integer("user_id"), .integer("sequence", check: "sequence > 0"), .text("grant_id"), .text("collection"),
            .integer("number", check: "number >= 0"), .text("reason", check: "reason <> ''"), .text("granted_by"),
            .integer("granted_at"), .integer("ends_at", check: "ends_at > granted_at").optional,
            .integer("revoked_at").optional, .text("revoked_by").optional, .text("revocation_reason").optional,
        ],
        key: ["user_id", "sequence"], unique: [["grant_id"]],
        references: [Reference(columns: ["user_id"], table: "user")],
        checks: ["(revoked_at IS NULL) = (revoked_by IS NULL) AND (revoked_at IS NULL) = (revocation_reason IS NULL)"])

    /// A revocation by the team holds whatever the App Store states about the purchase, and for each transaction that restores
    /// it.
    private static let teamRevocation = Table(
        name: "team_revocation",
        columns: [
            .text("origin"), .text("original_transaction_id"), .integer("sequence", check: "sequence > 0"),
            .text("reason", check: "reason <> ''"), .text("revoked_by"), .integer("revoked_at"),
            .text("reinstated_by").optional, .integer("reinstated_at").optional,
        ],
        key: ["original_transaction_id", "origin", "sequence"],
        references: [Reference(columns: ["original_transaction_id", "origin"], table: "original_transaction")],
        checks: ["(reinstated_by IS NULL) = (reinstated_at IS NULL)"],
        indexes: [
            Index(
                name: "team_revocation_that_stands", columns: ["original_transaction_id", "origin"], isUnique: true,
                condition: "reinstated_at IS NULL")
        ])

    /// `left_after`: the amount that was left by the spending.
    private static let spending = Table(
        name: "spending",
        columns: [
            .integer("user_id"), .text("spending_id"), .text("balance"), .integer("amount", check: "amount > 0"),
            .text("reason", check: "reason <> ''"), .text("spent_by"), .integer("spent_at"),
            .text("idempotency_key").optional, .blob("request_digest", count: 32).optional,
            .integer("left_after").optional,
        ],
        key: ["user_id", "spending_id"], references: [Reference(columns: ["user_id"], table: "user")],
        indexes: [
            Index(
                name: "spending_by_idempotency_key", columns: ["user_id", "idempotency_key"], isUnique: true,
                condition: "idempotency_key IS NOT NULL")
        ])

    private static let keptAnswer = Table(
        name: "kept_answer",
        columns: [
            .text("caller"), .text("idempotency_key"), .blob("request_digest", count: 32), .integer("status"),
            .text("content_type"), .blob("body"), .integer("kept_at"), .integer("user_id").optional,
        ],
        key: ["caller", "idempotency_key"],
        indexes: [
            Index(name: "kept_answer_by_age", columns: ["kept_at"]),
            Index(name: "kept_answer_about_user", columns: ["user_id"], condition: "user_id IS NOT NULL"),
        ])

    /// The users who keep access however a token spells their name.
    private static let anySpelling = Table(
        name: "any_spelling", columns: [.integer("user_id")], key: ["user_id"],
        references: [Reference(columns: ["user_id"], table: "user")])

    private static let apiKey = Table(
        name: "api_key",
        columns: [
            .text("key_id"), .text("name"), .text("scopes"), .blob("secret_digest", count: 32), .integer("created_at"),
            .integer("revoked_at").optional,
        ],
        key: ["key_id"])

    /// The moments until which transactions and notifications were fetched from the App Store.
    private static let reconciliation = Table(
        name: "reconciliation", columns: [.text("subject"), .integer("reconciled_until")], key: ["subject"])
}
