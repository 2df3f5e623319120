import Ledger
import Proofs

extension ReadingRecords {
    /// The newest transactions, and every older one with an effect on rights, newest first: the periods of subscriptions, and of
    /// each other product the valid transaction that lasts longest.
    ///
    /// - Parameters:
    ///   - app: The number of the app; nil for all apps.
    ///   - count: The number of the newest transactions.
    func transactions(of user: Int64, in app: Int64?, newest count: Int) throws -> [RedeemedTransaction] {
        let newest = try transactions(of: user, in: app, before: .max, limit: count)
        guard newest.count == count, let oldest = newest.last else { return newest }
        let type = ProductType.autoRenewableSubscription.rawValue
        return newest
            + (try database.rows(
                """
                \(Self.transactions)
                WHERE redeemed_transaction.user_id = $1 AND redeemed_transaction.sequence < $2
                    \(Self.isIn(app, of: "redeemed_transaction")) AND (\(Self.isSubscribed("$3")) OR redeemed_transaction.sequence IN (
                        SELECT sequence FROM (
                            SELECT sequence, row_number() OVER (
                                PARTITION BY product_id, origin, app
                                ORDER BY (CASE WHEN expires_at IS NULL THEN 0 ELSE 1 END), expires_at DESC,
                                    sequence DESC) AS place
                            FROM redeemed_transaction AS bought
                            WHERE user_id = $1 AND sequence < $2 AND revocation_date IS NULL AND NOT EXISTS (
                                SELECT 1 FROM team_revocation AS revoked
                                WHERE revoked.user_id = bought.user_id AND revoked.origin = bought.origin
                                    AND revoked.original_transaction_id = bought.original_transaction_id
                                    AND revoked.app = bought.app AND reinstated_at IS NULL)) AS valid
                        WHERE place = 1))
                ORDER BY redeemed_transaction.sequence DESC
                """,
                [user, oldest.sequence, type]
            ).map(Self.transaction))
    }

    /// The events about the renewal of subscriptions from some origins.
    func renewalEvents(of user: Int64, from origins: Set<Origin>) throws -> RenewalEvents {
        let names = [AuditEntry.Event.autoRenewDisabled, .renewalFailed, .gracePeriodBegan]
            .map { "'\($0.rawValue)'" }.joined(separator: ", ")
        var events = RenewalEvents()
        let rows = try database.rows(
            """
            SELECT event, reference, min(happened_at) AS earliest, max(happened_at) AS latest FROM audit
            WHERE user_id = $1 AND origin IN \(origins.sqlList) AND event IN (\(names)) GROUP BY event, reference
            """,
            [user])
        for row in rows {
            let (event, reference): (String, String) = (try row["event"], try row["reference"])
            let (earliest, latest): (Timestamp, Timestamp) = (try row["earliest"], try row["latest"])
            if event == AuditEntry.Event.autoRenewDisabled.rawValue {
                events.turnedOff[ByteKey(reference)] = latest
            } else {
                let known = events.chargeFailed[ByteKey(reference)] ?? earliest
                events.chargeFailed[ByteKey(reference)] = min(known, earliest)
            }
        }
        return events
    }
}
