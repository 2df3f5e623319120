import Ledger

/// The tables of grants, revocations and spendings by back ends, and of the reconciliation with the App Store.
extension Table {
    static let team = [teamGrant, teamRevocation, spending, balanceAddition, refusal, reconciliation]

    /// A grant. Grants are numbered per user, and revocations per purchase, so that users do not wait for each other.
    private static let teamGrant = Table(
        name: "team_grant", family: .userData,
        columns: [
            .integer("user_id"), .integer("sequence", check: "sequence > 0"), .text("grant_id"), .text("collection"),
            .integer("number", check: "number >= 0"), .text("reason", check: "reason <> ''"), .text("granted_by"),
            .integer("granted_at"), .integer("ends_at", check: "ends_at > granted_at").optional,
            .integer("revoked_at").optional, .text("revoked_by").optional, .text("revocation_reason").optional,
        ],
        key: ["user_id", "sequence"], unique: [["user_id", "grant_id"]],
        checks: ["(revoked_at IS NULL) = (revoked_by IS NULL) AND (revoked_at IS NULL) = (revocation_reason IS NULL)"],
        erasure: .update(
            """
            reason = 'erased',
                revocation_reason = CASE WHEN revocation_reason IS NULL THEN NULL ELSE 'erased' END
            """), merge: .byRule)

    /// A revocation by the team. It applies regardless of the App Store's statements, and to each transaction that restores the
    /// purchase.
    private static let teamRevocation = Table(
        name: "team_revocation", family: .userData,
        columns: [
            .integer("user_id"), .text("original_transaction_id"), .text("origin"), .integer("app"),
            .integer("sequence", check: "sequence > 0"), .text("reason", check: "reason <> ''"), .text("revoked_by"),
            .integer("revoked_at"), .text("reinstated_by").optional, .integer("reinstated_at").optional,
        ],
        key: ["user_id"] + originalKey + ["sequence"],
        checks: ["(reinstated_by IS NULL) = (reinstated_at IS NULL)"],
        erasure: .update("reason = 'erased'"), merge: .move
    )
    .indexed(
        "team_revocation_that_stands", by: ["user_id"] + originalKey, isUnique: true, where: "reinstated_at IS NULL")

    /// A spending. `left_after`: the amount left after it; `merged_from`: as that of a credit.
    private static let spending = Table(
        name: "spending", family: .userData,
        columns: [
            .integer("user_id"), .text("spending_id"), .text("balance"), .integer("amount", check: "amount > 0"),
            .text("reason", check: "reason <> ''"), .text("spent_by"), .integer("spent_at"),
            .text("idempotency_key").optional, .blob("request_digest", count: 32).optional,
            .integer("left_after"), .integer("merged_from").optional,
        ],
        key: ["user_id", "spending_id"],
        erasure: .update("reason = 'erased', idempotency_key = NULL, request_digest = NULL"), merge: .byRule
    )
    .indexed(
        "spending_by_idempotency_key", by: ["user_id", "idempotency_key"], isUnique: true,
        where: "idempotency_key IS NOT NULL")

    /// An amount that the team has added to a balance. `merged_from`: as that of a credit.
    private static let balanceAddition = Table(
        name: "balance_addition", family: .userData,
        columns: [
            .integer("user_id"), .text("addition_id"), .text("balance", check: "balance <> ''"),
            .integer("amount", check: "amount > 0"), .text("reason", check: "reason <> ''"), .text("added_by"),
            .integer("added_at"), .integer("merged_from").optional,
        ],
        key: ["user_id", "addition_id"], erasure: .update("reason = 'erased'"), merge: .byRule)

    /// The recorded refusals, each once for a user, a transaction and a reason. They stay with a merged customer: a stranger could
    /// use up the limit of another user.
    private static let refusal = Table(
        name: "refusal", family: .userData,
        columns: [.integer("user_id"), .text("transaction_id"), .text("origin"), .integer("app"), .text("reason")],
        key: ["user_id"] + transactionKey + ["reason"])

    /// The checkpoints of the reconciliation: the time until which transactions and notifications were fetched from the App
    /// Store. `findings`: the number of each outcome of that run, as JSON.
    private static let reconciliation = Table(
        name: "reconciliation", family: .everywhere,
        columns: [.text("subject"), .integer("reconciled_until"), .text("findings")], key: ["subject"])
}
