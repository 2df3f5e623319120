/// A table of the ledger as it is moved from one database to another.
struct LedgerTable: Sendable {
    enum Kind: Sendable {
        case integer
        case text
        case blob
    }

    struct Column: Sendable {
        let name: String
        let kind: Kind
    }

    let name: String
    /// The columns that tell its rows apart.
    private let key: [String]
    let columns: [Column]

    /// The name as SQL has it.
    var quotedName: String { "\"\(name)\"" }

    /// All rows, in the same order in every database.
    var inOrder: String {
        "SELECT \(columns.map(\.name).joined(separator: ", ")) FROM \(quotedName) ORDER BY \(key.joined(separator: ", "))"
    }

    /// - Parameter columns: The name of each, after which `#` stands for a number, `*` for bytes.
    private init(_ name: String, key: String, _ columns: String) {
        self.name = name
        self.key = key.split(separator: " ").map(String.init)
        self.columns = columns.split(separator: " ").map { column in
            switch column.last {
            case "#": Column(name: String(column.dropLast()), kind: .integer)
            case "*": Column(name: String(column.dropLast()), kind: .blob)
            default: Column(name: String(column), kind: .text)
            }
        }
    }

    /// All of them, each after those that it refers to.
    static let all = [
        LedgerTable(
            "user", key: "user_id",
            "user_id# issuer name app_account_token first_seen_at# is_app_account_token_settled#"),
        LedgerTable(
            "original_transaction", key: "origin original_transaction_id",
            "origin original_transaction_id user_id# transferred_at# named_at# named_by named_stated_at#"),
        LedgerTable(
            "redeemed_transaction", key: "origin transaction_id",
            """
            origin transaction_id original_transaction_id user_id# sequence# product_id quantity# purchase_date# \
            revocation_date# revocation_reason# expires_at# grace_ends_at# grace_stated_at# stated_at# redeemed_at# \
            proof_digest*
            """),
        LedgerTable(
            "entitlement", key: "user_id collection number origin transaction_id",
            "user_id# collection number# origin transaction_id granted_at#"),
        LedgerTable("credit", key: "origin transaction_id", "origin transaction_id user_id# balance amount#"),
        LedgerTable(
            "parked_transaction", key: "origin transaction_id",
            """
            origin transaction_id revocation_date# revocation_reason# stated_at# expires_at# original_transaction_id claim*
            """),
        LedgerTable(
            "notification", key: "origin notification_uuid",
            "origin notification_uuid type subtype transaction_id signed_at# received_at# proof_digest* settled_at#"),
        LedgerTable(
            "team_grant", key: "user_id sequence",
            """
            sequence# grant_id user_id# collection number# reason granted_by granted_at# ends_at# revoked_at# revoked_by \
            revocation_reason
            """),
        LedgerTable(
            "team_revocation", key: "origin original_transaction_id sequence",
            "sequence# origin original_transaction_id reason revoked_by revoked_at# reinstated_by reinstated_at#"),
        LedgerTable(
            "spending", key: "user_id spending_id",
            "spending_id user_id# balance amount# reason spent_by spent_at# idempotency_key request_digest* left_after#"
        ),
        LedgerTable(
            "kept_answer", key: "caller idempotency_key",
            "caller idempotency_key request_digest* status# content_type body* kept_at# user_id#"),
        LedgerTable("any_spelling", key: "user_id", "user_id#"),
        LedgerTable("api_key", key: "key_id", "key_id name scopes secret_digest* created_at# revoked_at#"),
        LedgerTable("account", key: "user_id", "user_id# email email_lowercase password_hash created_at#"),
        LedgerTable(
            "session", key: "session_id",
            "session_id* refresh_id* user_id# refresh_digest* access_digest* previous_access_digest* began_at# ends_at#"
        ),
        LedgerTable("profile", key: "user_id", "user_id# nickname"),
        LedgerTable("chosen_item", key: "user_id collection", "user_id# collection number#"),
        LedgerTable("wish", key: "user_id product_id", "user_id# product_id wished_at#"),
        LedgerTable(
            "member", key: "user_id", "user_id# phone_number email fcm_token birth gender# joined_at#"),
        LedgerTable("user_change", key: "user_id number", "user_id# number# kind subject happened_at#"),
        LedgerTable("reconciliation", key: "subject", "subject reconciled_until#"),
        LedgerTable("refusal", key: "user_id origin transaction_id reason", "user_id# origin transaction_id reason"),
        LedgerTable(
            "audit", key: "user_id number",
            """
            user_id# number# happened_at# event actor origin reference subject reason reason_salt* reason_digest* digest*
            """),
        LedgerTable(
            "webhook_endpoint", key: "endpoint_id",
            "endpoint_id url created_at# created_by secret* previous_secret* previous_secret_ends_at# removed_at#"),
        LedgerTable(
            "webhook_delivery", key: "endpoint_id user_id audit_number",
            """
            user_id# audit_number# endpoint_id message_id happened_at# attempts# next_attempt_at# is_delivered# \
            last_attempt_at# last_status# last_error
            """),
        LedgerTable(
            "catalog_change", key: "number",
            """
            number# happened_at# changed_by kind product_id definition collection item_number# picture_digest*
            """),
        LedgerTable("catalog_picture", key: "collection number", "collection number# digest* bytes*"),
    ]
}
