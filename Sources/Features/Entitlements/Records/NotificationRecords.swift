import Ledger
import Proofs

/// The SQL of notifications, inside the caller's transaction.
struct NotificationRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    /// The keys of notifications that were received before, and those of them that were received more than once.
    func known(
        among requests: [ClaimRequest]
    ) throws -> (known: Set<NotificationRecord.Key>, repeated: Set<NotificationRecord.Key>) {
        let keys = requests.compactMap { request in
            if case .notify(let notification, _) = request { notification.key } else { nil }
        }
        guard !keys.isEmpty else { return ([], []) }
        let rows = try database.rows(
            """
            SELECT origin, notification_uuid, repeated_at FROM notification
            WHERE notification_uuid \(database.isIn("$1"))
            """,
            [database.list(Set(keys.map(\.uuid)).sorted().map(\.text))])
        var (known, repeated): (Set<NotificationRecord.Key>, Set<NotificationRecord.Key>) = ([], [])
        for row in rows {
            let key = NotificationRecord.Key(origin: try row["origin"], uuid: ByteKey(try row["notification_uuid"]))
            known.insert(key)
            let repeatedAt: Timestamp? = try row["repeated_at"]
            if repeatedAt != nil { repeated.insert(key) }
        }
        return (known, repeated)
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

extension NotificationRecords {
    /// Notes the first repetition of notifications. Later ones change nothing, so that repetitions cost little.
    func note(repeated keys: Set<NotificationRecord.Key>, at moment: Timestamp) throws {
        guard !keys.isEmpty else { return }
        let sorted = keys.sorted { ($0.uuid, $0.origin.rawValue) < ($1.uuid, $1.origin.rawValue) }
        try database.update(
            "notification", set: ["repeated_at"], where: ["notification_uuid", "origin"],
            sorted.map { [moment, $0.uuid.text, $0.origin] })
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
