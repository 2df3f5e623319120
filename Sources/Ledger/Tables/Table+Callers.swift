/// The tables of those who call the service, and of the answers that they were given.
extension Table {
    static let callers = [keptAnswer, apiKey]

    private static let keptAnswer = Table(
        name: "kept_answer", family: .globalKey,
        columns: [
            .text("idempotency_key"), .text("caller"), .blob("request_digest", count: 32), .blob("answer"),
            .integer("kept_at"), .integer("user_id").optional,
        ],
        key: ["idempotency_key", "caller"],
        indexes: [
            Index(name: "kept_answer_by_age", columns: ["kept_at"]),
            Index(name: "kept_answer_about_user", columns: ["user_id"], condition: "user_id IS NOT NULL"),
            Index(name: "kept_answer_about_nobody", columns: ["caller"], condition: "user_id IS NULL"),
        ],
        erasure: .deletion)

    /// The keys of callers. `platform`: the platform of an app's public key, which has no secret; null for a back end's key.
    private static let apiKey = Table(
        name: "api_key", family: .everywhere,
        columns: [
            .text("key_id"), .text("name"), .text("scopes"), .blob("secret_digest", count: 32), .integer("created_at"),
            .integer("revoked_at").optional, .text("app").optional, .integer("expires_at").optional,
            .integer("last_used_at").optional, .text("platform").optional,
        ],
        key: ["key_id"],
        indexes: [
            // An app has one valid public key for each platform.
            Index(
                name: "api_key_of_platform", columns: ["app", "platform"], isUnique: true,
                condition: "platform IS NOT NULL AND revoked_at IS NULL")
        ])
}
