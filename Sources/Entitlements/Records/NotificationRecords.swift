import Commerce
import Ledger

/// The SQL of notifications, inside the caller's transaction.
struct NotificationRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    /// The keys of notifications that were received before.
    func known(among requests: [ClaimRequest]) throws -> Set<NotificationRecord.Key> {
        let keys = requests.compactMap { request in
            if case .notify(let notification, _) = request { notification.key } else { nil }
        }
        guard !keys.isEmpty else { return [] }
        let rows = try database.rows(
            """
            SELECT origin, notification_uuid FROM notification
            WHERE notification_uuid \(database.isIn("$1"))
            """,
            [database.list(Set(keys.map(\.uuid)).sorted().map(\.text))])
        return Set(
            try rows.map {
                NotificationRecord.Key(origin: try $0["origin"], uuid: ByteKey(try $0["notification_uuid"]))
            })
    }

    /// A notification that is received for the first time.
    struct Received {
        let notification: NotificationRecord
        let claim: Claim?
        let outcome: NotificationOutcome
    }

    func insert(_ received: [Received], at moment: Timestamp) throws {
        try database.insert(
            into: "notification",
            [
                "notification_uuid", "origin", "app", "type", "subtype", "transaction_id", "signed_at", "received_at",
                "proof_digest", "original_transaction_id", "outcome", "content",
            ],
            received.map { received in
                let (notification, claim) = (received.notification, received.claim)
                return [
                    notification.notificationUUID, notification.origin, apps[notification.app], notification.type,
                    notification.subtype,
                    claim?.transactionIdentifier, notification.signedAt, moment, notification.proofDigest,
                    claim?.originalTransactionIdentifier, received.outcome.rawValue, notification.content,
                ]
            })
    }
}

extension NotificationRecord {
    /// The identity of a notification. Duplicates have the same one.
    struct Key: Hashable {
        let origin: Origin
        let uuid: ByteKey
    }

    var key: Key { Key(origin: origin, uuid: ByteKey(notificationUUID)) }
}
