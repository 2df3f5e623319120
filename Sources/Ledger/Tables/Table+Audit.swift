/// The tables of the events of users.
extension Table {
    static let audit = [auditLog, userChange]

    /// The audit log. A record is never changed or deleted; only the text of a reason can be erased. `app`: the bundle
    /// identifier, which the digest covers.
    private static let auditLog = Table(
        name: "audit", family: .userData,
        columns: [
            .integer("user_id"), .integer("number", check: "number > 0"), .integer("happened_at"), .text("event"),
            .text("actor"), .text("origin").optional, .text("reference"), .text("subject"), .text("reason").optional,
            .blob("reason_salt").optional, .blob("reason_digest", count: 32).optional, .blob("digest", count: 32),
            .text("app").optional,
        ],
        key: ["user_id", "number"], references: [Reference(columns: ["user_id"], table: "user")],
        // The latest records of all users, by origin, and the numbers of each event since a moment.
        indexes: [
            Index(
                name: "audit_by_time", columns: ["origin", "happened_at", "user_id", "number", "event"]),
            // The actions of the team's members, which are rare.
            Index(
                name: "audit_of_members", columns: ["happened_at", "user_id", "number", "actor", "event"],
                condition: "substr(actor, 1, 7) = 'member '"),
            Index(
                name: "audit_refused", columns: ["reason", "happened_at", "user_id", "number"],
                condition: "event = 'refused'"),
        ],
        sqliteTriggers: [
            """
            CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit BEGIN
                SELECT RAISE(ABORT, 'The audit log is kept.');
            END;
            """,
            """
            CREATE TRIGGER audit_is_not_rewritten BEFORE UPDATE ON audit
            WHEN new.reason IS NOT NULL OR new.reason_salt IS NOT NULL
                OR (\(kept(of: "old"))) IS NOT (\(kept(of: "new")))
            BEGIN
                SELECT RAISE(ABORT, 'The audit log is not rewritten.');
            END;
            """,
        ],
        // The team wrote these reasons. The reason of a refusal is a code.
        erasure: .update(
            "reason = NULL, reason_salt = NULL", condition: "reason IS NOT NULL AND event <> 'refused'"))

    /// The columns that never change.
    private static func kept(of row: String) -> String {
        [
            "user_id", "number", "happened_at", "event", "actor", "origin", "reference", "subject", "reason_digest",
            "digest",
        ].map { "\(row).\($0)" }.joined(separator: ", ")
    }

    /// The last changes of each user to their own profile, for listeners.
    private static let userChange = Table(
        name: "user_change", family: .userData,
        columns: [
            .integer("user_id"), .integer("number", check: "number > 0"), .text("kind"), .text("subject"),
            .integer("happened_at"),
        ],
        key: ["user_id", "number"], references: [Reference(columns: ["user_id"], table: "user")],
        erasure: .deletion)
}
