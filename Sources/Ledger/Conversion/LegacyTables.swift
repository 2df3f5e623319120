/// The tables of version 15. A ledger has them under prefixed names during its conversion.
struct LegacyTables {
    let all: [Table]

    /// - Parameter schema: The tables of this version. Most had the same columns in version 15.
    init(_ schema: LedgerSchema) {
        let changed = Self.removedOrChanged
        all =
            schema.tables.filter { !Self.added.contains($0.name) && !changed.map(\.name).contains($0.name) }
            .map(Self.legacy) + changed.map(Self.legacy)
    }

    /// The indexes of version 15. The new indexes need their names.
    static let indexes = [
        "redeemed_transaction_of_original", "credit_of_user", "parked_transaction_of_original",
        "notification_that_asks", "team_revocation_that_stands", "spending_by_idempotency_key", "kept_answer_by_age",
        "kept_answer_about_user", "session_of_user", "session_by_end", "webhook_delivery_message",
        "webhook_delivery_by_age", "webhook_delivery_due", "webhook_delivery_pending", "webhook_delivery_failed",
        "webhook_delivery_delivered", "catalog_change_of_product",
    ]

    static let prefix = "old_"

    private static let added: Set = [
        "user_name", "account_token", "app", "claim", "original", "subscription", "account_email", "kept_proof",
        "kept_certificate", "webhook_attempt", "purchase_state", "balance_addition", "figure", "figure_contribution",
        "figure_pending",
        "figure_upkeep", "account_link", "address_change", "mail", "mail_count", "team_member", "team_session",
        "team_invitation", "team_change", "webhook_change", "expected_transaction", "attribute",
        "app_attribute", "user_merge",
    ]

    /// The same columns without constraints. The conversion checks the rows of an export.
    private static func legacy(_ table: Table) -> Table {
        Table(
            name: prefix + table.name, family: table.family,
            columns: table.columns.filter { $0.since == nil }.map(\.unchecked),
            key: [],
            hasLargeRows: true)
    }

    private static func table(_ name: String, _ columns: [Table.Column]) -> Table {
        Table(name: name, family: .userData, columns: columns, key: [])
    }

    private static let transaction: [Table.Column] = [.text("origin"), .text("transaction_id")]
    private static let statement: [Table.Column] = [
        .integer("revocation_date"), .integer("revocation_reason"), .integer("expires_at"), .integer("stated_at"),
    ]

    private static let removedOrChanged = [
        table(
            "user",
            [
                .integer("user_id"), .text("issuer"), .text("name"), .text("app_account_token"),
                .integer("first_seen_at"), .integer("is_app_account_token_settled"),
            ]),
        table(
            "original_transaction",
            [
                .text("origin"), .text("original_transaction_id"), .integer("user_id"), .integer("transferred_at"),
                .integer("named_at"), .text("named_by"), .integer("named_stated_at"),
            ]),
        table(
            "redeemed_transaction",
            transaction + statement + [
                .text("original_transaction_id"), .integer("user_id"), .integer("sequence"), .text("product_id"),
                .integer("quantity"), .integer("purchase_date"), .integer("grace_ends_at"),
                .integer("grace_stated_at"), .integer("redeemed_at"), .blob("proof_digest"),
            ]),
        table(
            "entitlement",
            transaction + [
                .integer("user_id"), .text("collection"), .integer("number"), .integer("granted_at"),
            ]),
        table("credit", transaction + [.integer("user_id"), .text("balance"), .integer("amount")]),
        table("parked_transaction", transaction + statement + [.text("original_transaction_id"), .blob("claim")]),
        table(
            "notification",
            [
                .text("origin"), .text("notification_uuid"), .text("type"), .text("subtype"), .text("transaction_id"),
                .integer("signed_at"), .integer("received_at"), .blob("proof_digest"), .integer("settled_at"),
            ]),
        table(
            "team_revocation",
            [
                .text("origin"), .text("original_transaction_id"), .integer("sequence"), .text("reason"),
                .text("revoked_by"), .integer("revoked_at"), .text("reinstated_by"), .integer("reinstated_at"),
            ]),
        table(
            "kept_answer",
            [
                .text("caller"), .text("idempotency_key"), .blob("request_digest"), .integer("status"),
                .text("content_type"), .blob("body"), .integer("kept_at"), .integer("user_id"),
            ]),
        table("any_spelling", [.integer("user_id")]),
        table("refusal", transaction + [.integer("user_id"), .text("reason")]),
        table(
            "webhook_delivery",
            [
                .integer("user_id"), .integer("audit_number"), .text("endpoint_id"), .text("message_id"),
                .integer("happened_at"), .integer("attempts"), .integer("next_attempt_at"), .integer("is_delivered"),
                .integer("last_attempt_at"), .integer("last_status"), .text("last_error"),
            ]),
    ]
}

extension Table.Column {
    /// The same column without constraints.
    fileprivate var unchecked: Table.Column { Table.Column(name: name, kind: kind, isOptional: true) }
}
