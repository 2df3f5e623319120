import Ledger
import Proofs

extension LedgerFeature {
    /// The purchases of users, their items, and the grants and revocations of back ends.
    package static let entitlements = LedgerFeature(tables: Table.purchases + Table.team, rules: EntitlementRules.all)

    /// The signed bytes of proofs.
    package static let keptProofs = LedgerFeature(tables: [.keptProof, .keptCertificate])
}

extension Table {
    /// The signed bytes of proofs, without their certificates. `certificates` has the SHA-256 of each certificate,
    /// concatenated.
    fileprivate static let keptProof = Table(
        name: "kept_proof", family: .userData,
        columns: [.integer("user_id"), .blob("proof_digest", count: 32), .blob("bytes"), .blob("certificates")],
        key: ["user_id", "proof_digest"], hasLargeRows: true, erasure: .deletion, merge: .move)

    fileprivate static let keptCertificate = Table(
        name: "kept_certificate", family: .globalKey, columns: [.blob("digest", count: 32), .blob("bytes")],
        key: ["digest"], hasLargeRows: true)
}

extension LedgerReport {
    package var redeemedTransactions: Int { rows["redeemed_transaction"] ?? 0 }
    package var grants: Int { rows["team_grant"] ?? 0 }
    package var notifications: Int { rows["notification"] ?? 0 }
}

/// The tables of purchases and their items.
///
/// The key of `claim` makes a second owner impossible, even if the code above it has a bug.
extension Table {
    static let purchases = [
        claim, chain, redeemedTransaction, credit, subscription, purchaseState, parkedTransaction,
        parkedOriginal, expectedTransaction, expectedPurchase, notification,
    ]

    /// The columns that identify a transaction across all apps and stores.
    static let transactionKey = ["transaction_id", "origin", "app"]
    package static let originalKey = ["original_transaction_id", "origin", "app"]

    /// The query for the owner of the purchase that `$1` identifies, without its origin and its app.
    static let ownerOfPurchase = "SELECT owner_id FROM claim WHERE owner_id IS NOT NULL AND transaction_id = $1"

    /// The query for the keys of the redeemed ones among the transactions of a parameter.
    static func redeemed(among parameter: String, in database: any LedgerDatabase) -> String {
        """
        SELECT transaction_id, origin, app FROM claim
        WHERE transaction_id \(database.isIn(packed: parameter)) AND user_id IS NOT NULL
        """
    }

    /// The owner of a redeemed transaction, and the owner of the purchase that is named by it, with all its transactions. Nearly all
    /// rows are both. `user_id`: null for a transaction that nobody has redeemed; `owner_id`: null for one that names no purchase, such
    /// as a renewal.
    ///
    /// `original_transaction_id`: the purchase of the transaction; null if the transaction names it. `naming`: the transaction whose
    /// account token names the owner (`Naming`). PostgreSQL needs eight bytes more for a row of more than eight columns with a null.
    private static let claim = Table(
        name: "claim", family: .globalKey,
        columns: [
            .packed("transaction_id"), .origin("origin"), .small("app"), .integer("user_id").optional,
            .packed("original_transaction_id").optional, .integer("owner_id").optional,
            .integer("transferred_at").optional, .text("naming").optional,
        ],
        key: ["transaction_id", "app", "origin"],
        checks: [
            "user_id IS NOT NULL OR owner_id IS NOT NULL", "user_id IS NOT NULL OR original_transaction_id IS NULL",
            "owner_id IS NOT NULL OR transferred_at IS NULL AND naming IS NULL",
        ]
    )
    .indexed("claim_transferred", by: ["transferred_at"], where: "transferred_at IS NOT NULL")
    .takingBack("transferred_at", endsEarly: true)

    /// The certificate chains and keys that have signed proofs: the SHA-256 of the last and of the first certificate.
    private static let chain = Table(
        name: "chain", family: .everywhere,
        columns: [
            .integer("chain", check: "chain > 0"), .blob("anchor_digest", count: 32), .blob("leaf_digest", count: 32),
        ],
        key: ["chain"], unique: [["anchor_digest", "leaf_digest"]])

    /// A redeemed transaction. `sequence`: the number among the user's transactions; `stated_at`: the date of the statement
    /// about the revocation; `statement_number`: the number of the question that Google Play has answered with it, null for a signed
    /// statement; `expires_at`: the end by the App Store, or by `fixed_period` and the other purchases of the user for the item;
    /// `fixed_period`: the period of the catalog for a purchase whose end no store states, null for another; `chain`: the chain that has
    /// signed, null for a purchase without a proof; `event_statements`: the last statement under each identifier of the purchase
    /// event as JSON, if it has several.
    ///
    /// `collection` and `number`: the item that it gives; null for none. `begins_at` and `ends_at` bound the ownership; null without a
    /// bound. `renews` and its statement are kept for a period that has not ended. So the items of a user are one range of rows.
    private static let redeemedTransaction = Table(
        name: "redeemed_transaction", family: .userData,
        columns: [
            .integer("user_id"), .integer("sequence", check: "sequence > 0"), .packed("original_transaction_id"),
            .packed("transaction_id"), .origin("origin"), .small("app"), .small("product"),
            .small("quantity", check: "quantity > 0"), .integer("purchase_date"), .integer("redeemed_at"),
            .integer("stated_at"), .integer("revocation_date").optional, .integer("revocation_reason").optional,
            .integer("expires_at").optional, .integer("grace_ends_at").optional, .integer("grace_stated_at").optional,
            .blob("proof_digest", count: 32), .small("chain").optional, .text("collection").optional,
            .integer("number", check: "number >= 0").optional, .integer("begins_at").optional,
            .integer("ends_at").optional, .small("is_revoked", check: "is_revoked IN (0, 1)"),
            .integer("renewal_stated_at").optional, .small("renews").optional, .small("is_declined").optional,
        ] + TransactionFacts.columns + [
            .blob("event_statements").optional, .integer("statement_number").optional,
            .integer("grace_statement_number").optional, .text("fixed_period").optional,
        ],
        key: ["user_id", "sequence"],
        checks: [
            "fixed_period IS NULL OR expires_at IS NOT NULL", "(collection IS NULL) = (number IS NULL)",
        ],
        merge: .byRule
    )
    .indexed("redeemed_transaction_of_purchase", by: ["user_id", "original_transaction_id"])
    // Each purchase for a fixed period extends the others of its user.
    .indexed("redeemed_transaction_for_period", by: ["user_id"], where: "fixed_period IS NOT NULL")
    // The team searches for the latest customers of a product. SQLite has the key in each index, and PostgreSQL sorts those of a moment.
    .indexed("redeemed_transaction_of_product", by: ["product", "redeemed_at"])
    // It knows the day and the price of a purchase, or its product.
    .indexed("redeemed_transaction_by_purchase", by: ["purchase_date", "product", "price"])
    // It also searches for the purchases of an order at Google Play.
    .indexed("redeemed_transaction_of_order", by: ["order_id", "user_id"], where: "order_id IS NOT NULL")

    /// A credit of a transaction. `merged_from`: the number of the anonymous customer who bought it and then logged in.
    private static let credit = Table(
        name: "credit", family: .userData,
        columns: [
            .integer("user_id"), .integer("sequence"), .text("balance", check: "balance <> ''"),
            .integer("amount", check: "amount > 0"), .origin("origin"),
            .integer("is_revoked", check: "is_revoked IN (0, 1)"), .integer("merged_from").optional,
        ],
        key: ["user_id", "sequence"], merge: .byRule
    )
    .referring(to: "redeemed_transaction", by: ["user_id", "sequence"])

    /// The last renewal information about a subscription: the fields of `JWSRenewalInfoDecodedPayload`. `settings`: those that this and
    /// earlier ones have told of, if they are more than its own.
    private static let subscription = Table(
        name: "subscription", family: .userData,
        columns: [
            .integer("user_id"), .packed("original_transaction_id"), .origin("origin"), .integer("app"),
            .integer("stated_at"), .blob("proof_digest", count: 32),
        ] + RenewalFacts.columns + [.integer("statement_number").optional, .text("settings").optional],
        key: ["user_id"] + originalKey, hasLargeRows: true, merge: .move)

    /// The states of purchases with an end in the histories of their owners. `changes_at`: the moment at which time alone
    /// changes the state. `end_notice`: `HistoryState.endNotice`.
    private static let purchaseState = Table(
        name: "purchase_state", family: .userData,
        columns: [
            .integer("user_id"), .packed("original_transaction_id"), .origin("origin"), .integer("app"), .text("state"),
            .integer("renews").optional, .integer("changes_at").optional, .integer("end_notice").optional,
        ],
        key: ["user_id"] + originalKey,
        erasure: .deletion, merge: .move
    )
    .indexed("purchase_state_that_changes", by: ["changes_at"], where: "changes_at IS NOT NULL")
    .indexed("purchase_state_not_paid", by: ["user_id"], where: isNotPaid)

    /// The condition of purchases whose renewal could not be charged, which are few.
    package static let isNotPaid = "state IN \([PurchaseState.billingRetry, .gracePeriod].sqlList)"

    /// The latest statements about transactions that nobody has redeemed.
    private static let parkedTransaction = Table(
        name: "parked_transaction", family: .globalKey,
        columns: [
            .packed("transaction_id"), .origin("origin"), .integer("app"), .packed("original_transaction_id"),
            .integer("stated_at"), .integer("revocation_date").optional, .integer("revocation_reason").optional,
            .integer("expires_at").optional, .blob("claim"), .integer("statement_number").optional,
        ],
        key: transactionKey
    )
    .indexed("parked_transaction_by_age", by: ["stated_at"])

    /// The transactions to which a purchase leads: the parked ones whose identifiers differ from that of the purchase, such as renewals,
    /// and of each subscription that has moved from the purchase the one that states it first. In a distributed database they are beside
    /// the owner of the purchase.
    private static let parkedOriginal = Table(
        name: "parked_original", family: .globalKey,
        columns: [
            .packed("original_transaction_id"), .origin("origin"), .integer("app"), .packed("transaction_id"),
        ],
        key: originalKey + ["transaction_id"])

    /// The customers to whom an import assigns purchases that nobody has redeemed. The first proof of a purchase confirms the
    /// expectation, and its rows are deleted. Until then the customer owns nothing by it.
    private static let expectedTransaction = Table(
        name: "expected_transaction", family: .globalKey,
        columns: [.packed("original_transaction_id"), .origin("origin"), .integer("app"), .integer("user_id")],
        key: originalKey,
        owner: (table: "expected_purchase", keyName: "The original transaction of an expected purchase"))

    /// The purchases that an import expects for a customer. `product_id`, `purchase_date` and `expires_at`: the newest transaction
    /// of the purchase, as the former server states it.
    private static let expectedPurchase = Table(
        name: "expected_purchase", family: .userData,
        columns: [
            .integer("user_id"), .packed("original_transaction_id"), .origin("origin"), .integer("app"),
            .integer("expected_at"), .text("product_id"), .integer("purchase_date"), .integer("expires_at").optional,
        ],
        key: ["user_id"] + originalKey,
        erasure: .deletion, merge: .move)

    /// A notification. `settled_at`: the time at which a consumption request was answered or refused; `content`: the decoded
    /// notification as JSON, without the proofs inside it; `repeated_at`: the time at which it was received a second time.
    private static let notification = Table(
        name: "notification", family: .globalKey,
        columns: [
            .text("notification_uuid"), .origin("origin"), .integer("app"), .text("type"), .text("subtype").optional,
            .packed("transaction_id").optional, .integer("signed_at"), .integer("received_at"),
            .blob("proof_digest", count: 32), .integer("settled_at").optional,
            .packed("original_transaction_id").optional, .text("outcome"), .text("content").optional,
            .integer("repeated_at").optional,
        ],
        key: ["notification_uuid", "origin"]
    )
    .indexed("notification_of_original", by: originalKey, where: "original_transaction_id IS NOT NULL")
    .indexed("notification_that_asks", by: ["signed_at"], where: "type = 'CONSUMPTION_REQUEST' AND settled_at IS NULL")
    .indexed("notification_by_receipt", by: receiptOrder)
    .indexed("notification_of_type", by: ["type"] + receiptOrder)
    // The other outcomes are frequent, so a search among the latest notifications finds them.
    .indexed("notification_of_outcome", by: ["outcome"] + receiptOrder, where: rareOutcome)

    /// The condition of notifications with an outcome that few have.
    static let rareOutcome = "outcome NOT IN \(NotificationOutcome.frequent.sqlList)"

    static let receiptOrder = ["received_at", "notification_uuid", "origin"]
}

/// The tables of grants, revocations and spendings by back ends, and of the reconciliation with the App Store. All but one stand beside
/// the statements about their rows.
extension Table {
    static let team = [
        teamGrant, teamRevocation, spending, balanceAddition, refusal, reconciliation, keptConfiguration, storeDuty,
    ]

    /// The recorded refusals, each once for a user, a transaction and a reason. They stay with a merged customer: a stranger could
    /// use up the limit of another user.
    private static let refusal = Table(
        name: "refusal", family: .userData,
        columns: [.integer("user_id"), .packed("transaction_id"), .origin("origin"), .integer("app"), .text("reason")],
        key: ["user_id"] + transactionKey + ["reason"])
}
