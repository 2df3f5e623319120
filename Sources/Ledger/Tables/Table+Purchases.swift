/// The tables of users, and of what they own by purchases.
///
/// Their keys make a second owner impossible, whatever the code above does: `original_transaction` has one user for each
/// original purchase, and each redeemed transaction refers to that very pair. A transfer updates the one row, and the keys carry
/// the change along.
extension Table {
    static let purchases = [
        user, originalTransaction, redeemedTransaction, entitlement, credit, parkedTransaction, notification,
    ]

    /// The columns that tell the transactions of all stores apart.
    private static let transactionKey = ["transaction_id", "origin"]
    private static let originalKey = ["original_transaction_id", "origin"]

    /// `is_app_account_token_settled`: whether the token was told or set.
    private static let user = Table(
        name: "user",
        columns: [
            Column(
                name: "user_id", kind: .integer,
                defaultValue: [
                    .postgreSQL: "('x' || right(replace(gen_random_uuid()::text, '-', ''), 15))::bit(60)::bigint"
                ]),
            .text("issuer"), .text("name", check: "name <> ''"),
            .text("app_account_token", check: "length(app_account_token) = 36"), .integer("first_seen_at"),
            Column(
                name: "is_app_account_token_settled", kind: .integer,
                defaultValue: [.sqlite: "1", .postgreSQL: "1"]),
        ],
        key: ["user_id"], unique: [["name", "issuer"], ["app_account_token"]])

    /// `named_by`: the transaction whose account token names the user; `named_at`: its purchase date; `named_stated_at`: the
    /// date of the statement.
    private static let originalTransaction = Table(
        name: "original_transaction",
        columns: [
            .text("origin"), .text("original_transaction_id"), .integer("user_id"), .integer("transferred_at").optional,
            .integer("named_at").optional, .text("named_by").optional, .integer("named_stated_at").optional,
        ],
        key: originalKey, unique: [originalKey + ["user_id"]],
        references: [Reference(columns: ["user_id"], table: "user")],
        checks: ["(named_at IS NULL) = (named_by IS NULL) AND (named_at IS NULL) = (named_stated_at IS NULL)"])

    /// `sequence`: the number among the transactions of the user; `stated_at`: the date of the statement that decides whether
    /// the transaction is revoked.
    private static let redeemedTransaction = Table(
        name: "redeemed_transaction",
        columns: [
            .text("origin"), .text("transaction_id"), .text("original_transaction_id"), .integer("user_id"),
            .integer("sequence", check: "sequence > 0"), .text("product_id"),
            .integer("quantity", check: "quantity > 0"), .integer("purchase_date"),
            .integer("revocation_date").optional, .integer("revocation_reason").optional,
            .integer("expires_at").optional, .integer("grace_ends_at").optional, .integer("grace_stated_at").optional,
            .integer("stated_at"), .integer("redeemed_at"), .blob("proof_digest", count: 32),
        ],
        key: transactionKey, unique: [transactionKey + ["user_id"], ["user_id", "sequence"]],
        references: [
            Reference(columns: originalKey + ["user_id"], table: "original_transaction", isCarriedAlong: true)
        ],
        indexes: [Index(name: "redeemed_transaction_of_original", columns: originalKey)], hasLargeRows: true)

    private static let entitlement = Table(
        name: "entitlement",
        columns: [
            .integer("user_id"), .text("collection"), .integer("number", check: "number >= 0"), .text("origin"),
            .text("transaction_id"), .integer("granted_at"),
        ],
        key: ["user_id", "collection", "number", "origin", "transaction_id"],
        unique: [transactionKey + ["collection", "number"]],
        references: [
            Reference(columns: transactionKey + ["user_id"], table: "redeemed_transaction", isCarriedAlong: true)
        ])

    private static let credit = Table(
        name: "credit",
        columns: [
            .text("origin"), .text("transaction_id"), .integer("user_id"), .text("balance", check: "balance <> ''"),
            .integer("amount", check: "amount > 0"),
        ],
        key: transactionKey,
        references: [
            Reference(columns: transactionKey + ["user_id"], table: "redeemed_transaction", isCarriedAlong: true)
        ],
        indexes: [Index(name: "credit_of_user", columns: ["user_id"])])

    /// The latest statements about transactions that nobody has claimed yet.
    private static let parkedTransaction = Table(
        name: "parked_transaction",
        columns: [
            .text("origin"), .text("transaction_id"), .integer("revocation_date").optional,
            .integer("revocation_reason").optional, .integer("stated_at"), .integer("expires_at").optional,
            .text("original_transaction_id").optional, .blob("claim").optional,
        ],
        key: transactionKey, indexes: [Index(name: "parked_transaction_of_original", columns: originalKey)])

    /// `settled_at`: when a consumption request was answered, or its time was over.
    private static let notification = Table(
        name: "notification",
        columns: [
            .text("origin"), .text("notification_uuid"), .text("type"), .text("subtype").optional,
            .text("transaction_id").optional, .integer("signed_at"), .integer("received_at"),
            .blob("proof_digest", count: 32), .integer("settled_at").optional,
        ],
        key: ["notification_uuid", "origin"],
        indexes: [
            Index(
                name: "notification_that_asks", columns: ["signed_at"],
                condition: "type = 'CONSUMPTION_REQUEST' AND settled_at IS NULL")
        ])
}
