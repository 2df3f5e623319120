import Foundation
import Proofs

extension LedgerFeature {
    /// The users, their audit logs and the callers.
    static let users = LedgerFeature(
        tables: Table.users + Table.audit + Table.callers + [.ledgerSecret],
        rules: [
            (
                "A user's last numbers differ from those of the records",
                """
                SELECT name FROM "user" LEFT JOIN audit ON audit.user_id = "user".user_id AND number = audit_number
                WHERE audit_number <> (SELECT coalesce(max(number), 0) FROM audit AS each
                        WHERE each.user_id = "user".user_id)
                    OR audit_number > 0 AND (digest IS NULL OR digest <> audit_digest)
                """
            ),
            (
                "A record of the audit log has an unknown app or product",
                """
                SELECT reference FROM audit WHERE app IS NOT NULL AND app NOT IN (SELECT app FROM app)
                    OR product IS NOT NULL AND product NOT IN (SELECT product FROM product)
                    OR subject IS NULL AND product IS NULL
                """
            ),
        ],
        check: tokens)

    /// A sentence for each user whose account token is no UUID. The text of a packed column cannot be compared in SQL.
    private static func tokens(_ database: any LedgerDatabase, _ limit: Int) throws -> [String] {
        var problems: [String] = []
        try database.streamRows(of: #"SELECT name, app_account_token FROM "user" ORDER BY user_id"#) { row in
            let (name, token): (String, String) = (try row.next(), try row.next())
            if problems.count < limit, UUID(uuidString: token)?.lowercasedString.hasSameBytes(as: token) != true {
                problems.append("An account token is not a UUID in lowercase: \(name).")
            }
        }
        return problems
    }
}

/// The tables of the events of users.
extension Table {
    static let audit = [auditLog, userChange]

    /// The audit log. A record is never changed or deleted; only the text of a reason can be erased. `actor`: null for the user;
    /// `app`: the number of the app; `product`: the number of the product that is the subject, null for another `subject`. The digest
    /// covers the actor and the identifiers of both.
    private static let auditLog = Table(
        name: "audit", family: .userData,
        columns: [
            .integer("user_id"), .integer("number", check: "number > 0"), .integer("happened_at"),
            .text("event").of(AuditEntry.Event.words), .text("actor").optional, .origin("origin").optional,
            .packed("reference"), .text("subject").optional, .small("product").optional, .text("reason").optional,
            .blob("reason_salt").optional, .blob("reason_digest", count: 32).optional, .blob("digest", count: 32),
            .small("app").optional, .integer("amount").optional, .text("balance").optional,
            .integer("ends_at").optional,
        ],
        key: ["user_id", "number"],
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
        erasure: .update("reason = NULL, reason_salt = NULL", condition: "reason IS NOT NULL AND event <> 'refused'")
    )
    // The latest records of all users, by origin, and the numbers of each event since a moment. SQLite has the key in each index, and
    // PostgreSQL sorts the few records of one moment.
    .indexed("audit_by_time", by: ["origin", "happened_at", "user_id", "number", "event"], in: .sqlite)
    .indexed("audit_by_time", by: ["origin", "happened_at", "event"], in: .postgreSQL)
    // The actions of the team's members, which are rare.
    .indexed(
        "audit_of_members", by: ["happened_at", "user_id", "number", "actor", "event"],
        where: "substr(actor, 1, 7) = 'member '"
    )
    // The list of customers whose purchase has ended.
    .indexed("audit_of_ends", by: ["happened_at", "user_id", "origin"], where: "event = 'expired'")
    .indexed("audit_refused", by: ["reason", "happened_at", "user_id", "number"], where: "event = 'refused'")

    /// The columns that never change.
    private static func kept(of row: String) -> String {
        [
            "user_id", "number", "happened_at", "event", "actor", "origin", "reference", "subject", "product",
            "reason_digest", "digest", "app", "amount", "balance", "ends_at",
        ].map { "\(row).\($0)" }.joined(separator: ", ")
    }

    /// The last changes of each user to their own profile, for listeners.
    private static let userChange = Table(
        name: "user_change", family: .userData,
        columns: [
            .integer("user_id"), .integer("number", check: "number > 0"), .text("kind"), .text("subject"),
            .integer("happened_at"),
        ],
        key: ["user_id", "number"], erasure: .deletion)
}

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
        erasure: .deletion
    )
    .indexed("kept_answer_by_age", by: ["kept_at"])
    .indexed("kept_answer_about_user", by: ["user_id"], where: "user_id IS NOT NULL")
    .indexed("kept_answer_about_nobody", by: ["caller"], where: "user_id IS NULL")

    /// The keys of callers. `platform`: the platform of an app's public key, which has no secret; null for a back end's key. `person`: the
    /// person who holds the key; null for a machine.
    private static let apiKey = Table(
        name: "api_key", family: .everywhere,
        columns: [
            .text("key_id"), .text("name"), .text("scopes"), .blob("secret_digest", count: 32), .integer("created_at"),
            .integer("revoked_at").optional, .text("app").optional, .integer("expires_at").optional,
            .integer("last_used_at").optional, .text("platform").optional, .text("person").optional,
        ],
        key: ["key_id"]
    )
    // An app has one valid public key for each platform.
    .indexed(
        "api_key_of_platform", by: ["app", "platform"], isUnique: true,
        where: "platform IS NOT NULL AND revoked_at IS NULL"
    )
    .takingBack("last_used_at")
}

/// The tables of users, their names and their account tokens.
extension Table {
    static let users = [user, userName, userAlias, accountToken, accountTokenAlias, userMerge, app, product]

    /// The users. `audit_number` and `audit_digest` are those of the user's last audit record. `last_transaction` and
    /// `last_grant` are the last numbers of the user's transactions and grants. `version` is the number of writes for the user.
    /// If two writers are concurrent, one finds another version and retries.
    private static let user = Table(
        name: "user", family: .userData,
        columns: [
            .integer("user_id"), .text("issuer"), .text("name", check: "name <> ''"),
            .packed("app_account_token"),
            .integer("is_app_account_token_settled"), .integer("first_seen_at"),
            .integer("version"),
            .integer("last_transaction"), .integer("last_grant"), .integer("audit_number"),
            .blob("audit_digest", count: 32), .integer("erased_at").optional,
        ],
        key: ["user_id"]
    )
    // The team searches for parts of names, and the newest names are read before each search.
    .indexed("user_by_age", by: ["first_seen_at", "user_id"])

    /// The users by their own names and their aliases.
    private static let userName = Table(
        name: "user_name", family: .globalKey,
        columns: [.text("name", check: "name <> ''"), .text("issuer"), .integer("user_id")],
        key: ["name", "issuer"],
        owner: (table: "user", keyName: "A name"), aliases: "user_alias")

    /// The names that lead to a user besides the own one. `aliased_at`: the time from which a name leads to a user.
    private static let userAlias = Table(
        name: "user_alias", family: .userData,
        columns: [.integer("user_id"), .text("name"), .text("issuer"), .integer("aliased_at")],
        key: ["user_id", "name", "issuer"],
        erasure: .deletion
    )
    .indexed("user_alias_by_age", by: ["aliased_at", "user_id", "name", "issuer"])

    /// The users by their own account tokens and further ones.
    private static let accountToken = Table(
        name: "account_token", family: .globalKey,
        columns: [.packed("app_account_token"), .integer("user_id")],
        key: ["app_account_token"],
        owner: (table: "user", keyName: "An account token"), aliases: "account_token_alias")

    /// The account tokens that lead to a user besides the own one, because purchases contain them. `aliased_at`: the time at which
    /// the token of a merged user became this user's, or was replaced.
    private static let accountTokenAlias = Table(
        name: "account_token_alias", family: .userData,
        columns: [.integer("user_id"), .packed("app_account_token"), .integer("aliased_at")],
        key: ["user_id", "app_account_token"])

    /// The users who were merged into a user. The merged ones are tombstones, which keep their audit logs.
    private static let userMerge = Table(
        name: "user_merge", family: .userData,
        columns: [.integer("user_id"), .integer("former_id"), .integer("merged_at")], key: ["user_id", "former_id"],
        merge: .byRule
    )
    .indexed("user_merge_of_former", by: ["former_id"])

    /// The numbers of bundle identifiers.
    private static let app = Table(
        name: "app", family: .everywhere, columns: [.integer("app", check: "app > 0"), .text("bundle_id")],
        key: ["app"], unique: [["bundle_id"]])

    /// The numbers of the products that users have redeemed.
    private static let product = Table(
        name: "product", family: .everywhere,
        columns: [.integer("product", check: "product > 0"), .text("product_id")],
        key: ["product"], unique: [["product_id"]])
}
