import Entitlements
import Ledger
import Proofs
import Testing

/// The times of the service's own clock, in each table.
@Suite struct OwnTimeTests {
    /// The words at the end of the name of a column with a time.
    private static let words: Set = ["at", "until", "by", "date", "step", "day"]

    /// The times that a wrong clock may leave as they are, with the reason. Columns of facts that a store has stated are left out.
    private static let others: [(reason: String, columns: [String])] = [
        (
            "a store has stated it",
            [
                "redeemed_transaction.purchase_date",
                "redeemed_transaction.stated_at", "redeemed_transaction.revocation_date",
                "redeemed_transaction.expires_at", "redeemed_transaction.grace_ends_at",
                "redeemed_transaction.grace_stated_at", "redeemed_transaction.begins_at",
                "redeemed_transaction.ends_at", "redeemed_transaction.renewal_stated_at", "subscription.stated_at",
                "purchase_state.changes_at",
                "parked_transaction.stated_at", "parked_transaction.revocation_date", "parked_transaction.expires_at",
                "expected_purchase.purchase_date", "expected_purchase.expires_at", "notification.signed_at",
                "google_voided_purchase.voided_at", "google_voided_units.voided_at", "google_line.begins_at",
                "google_line.ends_at", "google_purchase.acknowledge_by", "google_purchase.paid_until",
                "google_refund_review.asked_at",
                "customer_activity.last_purchase_at", "figure.day", "figure_cohort.day", "external_purchase.created_at",
                "external_purchase.expires_at", "external_purchase.report_at",
            ]
        ),
        (
            "it only tells when something was written",
            [
                "redeemed_transaction.redeemed_at", "team_grant.granted_at",
                "team_grant.revoked_at", "team_revocation.revoked_at", "team_revocation.reinstated_at",
                "spending.spent_at", "balance_addition.added_at", "expected_purchase.expected_at",
                "notification.received_at", "notification.settled_at", "notification.repeated_at", "audit.happened_at",
                "user_change.happened_at", "api_key.created_at", "api_key.revoked_at", "user.first_seen_at",
                "user_alias.aliased_at", "account_token_alias.aliased_at", "user_merge.merged_at",
                "team_member.created_at", "team_member.removed_at", "team_change.happened_at",
                "webhook_delivery.happened_at", "webhook_attempt.attempted_at", "webhook_endpoint.created_at",
                "webhook_endpoint.removed_at", "webhook_change.happened_at", "google_purchase.acknowledged_at",
                "external_transaction.reported_at", "external_transaction.passed_on_at", "external_purchase.learned_at",
                "external_purchase_report.reported_at", "external_purchase_report.accepted_at",
                "google_refund_review.settled_at", "mail.created_at",
                "mail.sent_at", "account.created_at", "account.email_verified_at", "member.joined_at", "wish.wished_at",
                "catalog_change.happened_at", "figure_upkeep.done_at",
                "ledger_reset.happened_at", "store_action.confirmed_at",
            ]
        ),
        ("it is taken back with the beginning or the end", ["session.began_at", "team_session.ends_at"]),
        ("it is taken back with the beginning", ["team_invitation.ends_at", "account_link.ends_at"]),
        ("people choose it", ["team_grant.ends_at", "audit.ends_at", "api_key.expires_at"]),
        (
            "something is only kept longer",
            [
                "kept_answer.kept_at", "address_change.asked_at", "notification_forward.queued_at",
                "google_purchase.refused_at", "user.erased_at", "store_action.requested_at",
                "store_action.decided_at", "store_action.answered_at",
            ]
        ),
        (
            "the rule compares it with now",
            [
                "attribute.stated_at", "app_attribute.stated_at", "mail_count.began_at",
                "external_transaction.due_at", "external_purchase_report.due_at", "store_duty.due_at",
            ]
        ),
    ]

    @Test func `each time of the service's own clock is taken back, or there is a reason not to`() {
        let facts = Set(TransactionFact.allCases.map(\.field.column) + RenewalFact.allCases.map(\.field.column))
        var (times, taken): (Set<String>, Set<String>) = ([], [])
        for table in [LedgerFeature].all.tables {
            for column in table.timeColumns(endingWith: Self.words) where !facts.contains(column) {
                times.insert("\(table.name).\(column)")
            }
            taken.formUnion(table.ownTimes.map { "\(table.name).\($0.column)" })
        }
        let others = Self.others.flatMap(\.columns)
        #expect(Set(others).count == others.count)
        #expect(taken.isDisjoint(with: others))
        #expect(taken.isSubset(of: times))
        // Does a service act on the time? Then the table takes it back (`Table.takingBack`).
        #expect(times.subtracting(taken).subtracting(others) == [])
        #expect(Set(others).subtracting(times) == [])
    }
}

extension Table {
    /// The columns of numbers whose names end with one of some words.
    fileprivate func timeColumns(endingWith words: Set<String>) -> [String] {
        // The name of a column precedes its type in the definition.
        definition(in: .sqlite).split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " ")
            guard parts.count > 1, parts[1].hasPrefix("INTEGER"), let word = parts[0].split(separator: "_").last,
                words.contains(String(word))
            else { return nil }
            return String(parts[0])
        }
    }
}
