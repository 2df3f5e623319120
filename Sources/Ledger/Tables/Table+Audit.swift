/// The tables of the audit log.
extension Table {
    static let audit = [refusal, auditLog]

    /// The refusals that were recorded: each once for a user, a transaction and a reason.
    private static let refusal = Table(
        name: "refusal",
        columns: [.integer("user_id"), .text("origin"), .text("transaction_id"), .text("reason")],
        key: ["user_id", "origin", "transaction_id", "reason"],
        references: [Reference(columns: ["user_id"], table: "user")])

    /// A record is never changed and never deleted; only the text of a reason can be erased.
    private static let auditLog = Table(
        name: "audit",
        columns: [
            .integer("user_id"), .integer("number", check: "number > 0"), .integer("happened_at"), .text("event"),
            .text("actor"), .text("origin").optional, .text("reference"), .text("subject"), .text("reason").optional,
            .blob("reason_salt").optional, .blob("reason_digest", count: 32).optional, .blob("digest", count: 32),
        ],
        key: ["user_id", "number"], references: [Reference(columns: ["user_id"], table: "user")],
        further: [
            .sqlite: """
            CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit BEGIN
                SELECT RAISE(ABORT, 'The audit log is kept.');
            END;
            CREATE TRIGGER audit_is_not_rewritten BEFORE UPDATE ON audit
            WHEN new.reason IS NOT NULL OR new.reason_salt IS NOT NULL
                OR (\(kept(of: "old"))) IS NOT (\(kept(of: "new")))
            BEGIN
                SELECT RAISE(ABORT, 'The audit log is not rewritten.');
            END;
            """,
            .postgreSQL: """
            CREATE FUNCTION audit_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                RAISE EXCEPTION 'The audit log is kept.' USING ERRCODE = 'restrict_violation';
            END $$;
            CREATE TRIGGER audit_is_kept BEFORE DELETE OR TRUNCATE ON audit
                FOR EACH STATEMENT EXECUTE FUNCTION audit_is_kept();
            CREATE TRIGGER audit_is_not_rewritten BEFORE UPDATE ON audit FOR EACH ROW
                WHEN (new.reason IS NOT NULL OR new.reason_salt IS NOT NULL
                    OR (\(kept(of: "old"))) IS DISTINCT FROM (\(kept(of: "new"))))
                EXECUTE FUNCTION audit_is_kept();
            """,
        ])

    /// The columns that never change.
    private static func kept(of row: String) -> String {
        [
            "user_id", "number", "happened_at", "event", "actor", "origin", "reference", "subject", "reason_digest",
            "digest",
        ].map { "\(row).\($0)" }.joined(separator: ", ")
    }
}
