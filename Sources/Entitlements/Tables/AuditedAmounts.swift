import Ledger

/// The comparison of amounts and ends with the audit log, which states each of them when it comes about.
///
/// The log is a hash chain, so whoever changes a row of these tables in a backup cannot change the record to match. Each comparison is
/// made in both directions: a row without its record was added, and a record without its row was removed. A merge or a transfer moves
/// rows, and the records stay with the customer of whom they were (`merged_from`). The statements are differences of sets, because a
/// distributed database joins only the rows of one user.
enum AuditedAmounts {
    static let rules: [LedgerRule] =
        compared(
            "A spending differs from its record in the audit log",
            rows: """
                SELECT coalesce(merged_from, user_id), spending_id AS subject, balance, -amount, spent_at FROM spending
                """,
            records: movements(.spent))
        + compared(
            "An addition to a balance differs from its record in the audit log",
            rows: """
                SELECT coalesce(merged_from, user_id), addition_id AS subject, balance, amount, added_at
                FROM balance_addition
                """,
            records: movements(.credited))
        + compared(
            "A credit differs from its records in the audit log",
            rows: """
                SELECT redeemed.origin, redeemed.app, redeemed.transaction_id AS subject, credit.balance, credit.amount
                FROM credit JOIN redeemed_transaction AS redeemed USING (user_id, sequence)
                """,
            records: """
                SELECT origin, app, reference AS subject, balance, CAST(sum(amount) AS BIGINT) FROM audit
                WHERE origin IS NOT NULL AND amount IS NOT NULL AND ends_at IS NULL
                GROUP BY origin, app, reference, balance
                """)
        + compared(
            "A grant differs from its record in the audit log",
            rows: "SELECT grant_id AS subject, collection || ' ' || number, granted_at, ends_at FROM team_grant",
            records: """
                SELECT reference AS subject, subject AS item, happened_at, ends_at FROM audit
                WHERE \(isEvent(.itemGiven))
                """)
        + compared(
            "The revocation of a grant differs from its record in the audit log",
            rows: "SELECT grant_id AS subject, revoked_at FROM team_grant WHERE revoked_at IS NOT NULL",
            records: "SELECT reference AS subject, happened_at FROM audit WHERE \(isEvent(.itemTakenBack))")
        + compared(
            "A purchase that the team has revoked differs from the records in the audit log",
            rows: "SELECT origin, revoked_at AS subject FROM team_revocation",
            // The team has to give a reason. A back end that redeems a refunded purchase for its user gives none.
            records: """
                SELECT origin, happened_at AS subject FROM audit
                WHERE \(isEvent(.revoked)) AND reason_digest IS NOT NULL
                """)
        + [
            (
                // A reinstatement needs no reason, so its record looks like that of a purchase which was redeemed again.
                "A purchase that the team has reinstated has no record in the audit log",
                """
                SELECT reinstated_at FROM (
                    SELECT origin, reinstated_at FROM team_revocation WHERE reinstated_at IS NOT NULL
                    EXCEPT SELECT origin, happened_at FROM audit WHERE \(isEvent(.granted))) AS unrecorded
                """
            ),
            (
                "A grant belongs to another user than the one who got it",
                """
                SELECT grant_id FROM team_grant WHERE user_id NOT IN (SELECT user_id FROM user_merge) AND grant_id IN (
                    SELECT grant_id FROM (
                        SELECT user_id, grant_id FROM team_grant
                        EXCEPT SELECT user_id, reference FROM audit WHERE \(isEvent(.itemGiven))) AS moved)
                """
            ),
            (
                "A balance has an amount of a customer who is another one",
                """
                SELECT merged_from FROM (
                    SELECT user_id, merged_from FROM spending WHERE merged_from <> user_id
                    UNION SELECT user_id, merged_from FROM balance_addition WHERE merged_from <> user_id
                    EXCEPT SELECT user_id, former_id FROM user_merge) AS foreign_amount
                """
            ),
        ]

    private static func isEvent(_ event: AuditEntry.Event) -> String { "event IN \([event].sqlList)" }

    private static func movements(_ event: AuditEntry.Event) -> String {
        "SELECT user_id, reference AS subject, balance, amount, happened_at FROM audit WHERE \(isEvent(event))"
    }

    /// The rules that two sets are equal. In each, the column `subject` names a violation.
    private static func compared(_ sentence: String, rows: String, records: String) -> [LedgerRule] {
        [(rows, records), (records, rows)].map { left, right in
            (sentence, "SELECT subject FROM (\(left) EXCEPT \(right)) AS different")
        }
    }
}
