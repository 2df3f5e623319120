import Ledger
import Proofs

/// A notification of the App Store or of Google Play as the ledger stores it.
package struct NotificationRecord: Hashable, Sendable {
    /// The bundle identifier of the app.
    package let app: String
    package let origin: Origin
    /// The identity of the notification. Duplicates have the same one.
    package let notificationUUID: String
    /// The type, in the store's words.
    package let type: String
    package let subtype: String?
    package let signedAt: Timestamp
    /// The SHA-256 of the signed bytes, or of the data of a pushed message.
    package let proofDigest: [UInt8]
    /// The decoded notification as JSON, without the proofs inside it; nil if it is too long to be stored.
    package let content: String?

    /// The purchase or the token that the notification is about, if no statement comes with it. Nil for none.
    private(set) var subject: Subject?

    /// It is indirect, so that the record stays narrow (swiftlang/swift#90477).
    indirect enum Subject: Hashable, Sendable {
        case transaction(String, original: String)
        case externalPurchase(ExternalPurchase.Token)
    }

    /// The longest content that is stored, in bytes of UTF-8.
    static let maximumContentLength = 8192

    package init(
        app: String,
        origin: Origin,
        notificationUUID: String,
        type: String,
        subtype: String?,
        signedAt: Timestamp,
        proofDigest: [UInt8],
        content: String? = nil
    ) {
        self.app = app
        self.origin = origin
        self.notificationUUID = notificationUUID
        self.type = type
        self.subtype = subtype
        self.signedAt = signedAt
        self.proofDigest = proofDigest
        self.content = content.flatMap { $0.utf8.count <= Self.maximumContentLength ? $0 : nil }
    }

    /// The notification about a purchase of which the store states nothing new. It belongs to the story of the owner all the same.
    func about(_ subject: Subject) -> NotificationRecord {
        var record = self
        record.subject = subject
        return record
    }

    /// The identity of a notification. Duplicates have the same one.
    struct Key: Hashable {
        let origin: Origin
        let uuid: ByteKey
    }

    var key: Key { Key(origin: origin, uuid: ByteKey(notificationUUID)) }
}

package enum NotificationOutcome: String, CaseIterable, Sendable, SQLConvertible {
    /// The notification gives an item to a user, or gives it back.
    case granted
    /// The notification takes an item from its owner.
    case revoked
    /// The notification changes nobody's items: it is known, outdated, or about something else.
    case recorded
    /// Nobody has redeemed the transaction. The statement is applied when a user does.
    case parked
    /// The notification was received before.
    case duplicate

    /// The outcomes of most notifications.
    static let frequent: [NotificationOutcome] = [.granted, .recorded]
}

/// The use cases of a store's later statements: notifications, and answers of scheduled questions.
extension EntitlementService {
    /// A verified notification that is not applied yet.
    package struct VerifiedNotification: Sendable {
        fileprivate let record: NotificationRecord
        fileprivate let stated: Claim?

        package var request: ClaimRequest { .notify(record, stating: stated) }
    }

    /// Stores and applies a notification of the App Store (App Store Server Notifications V2).
    ///
    /// A duplicate changes nothing. Of several statements about one transaction, the one signed last wins, in any order of
    /// arrival.
    package func receive(notification proof: [UInt8]) async throws -> NotificationOutcome {
        // The text of a verified proof needs no escapes.
        let body = Array(#"{"signedPayload":""#.utf8) + proof + Array(#""}"#.utf8)
        return try await receive(try notification(in: proof), sentAs: body)
    }

    /// Verifies a notification. This is the first half, which uses the processor, not the ledger.
    package func notification(in proof: [UInt8]) throws(RedemptionError) -> VerifiedNotification {
        let verified = try verify(proof)
        guard case .notification(let notification) = verified.content else { throw .noNotification }
        let record = NotificationRecord(
            app: try bundleIdentifier(of: verified), origin: verified.origin,
            notificationUUID: notification.notificationUUID,
            type: notification.notificationType, subtype: notification.subtype,
            signedAt: notification.signedDate, proofDigest: verified.digest,
            content: notification.contentWithoutProofs(of: verified.notifiedAppTransactions.first))
        return VerifiedNotification(
            record: notification.externalPurchase.map { record.about(.externalPurchase($0)) } ?? record,
            stated: try verified.notifiedPurchase.map { purchase throws(RedemptionError) in
                try claims(verified, proof).claim(purchase, renewal: verified.renewal).completed(by: notification)
            })
    }

    /// Stores and applies a verified notification. This is the second half, in one transaction of the ledger.
    ///
    /// - Parameter body: The request with the notification.
    package func receive(_ notification: VerifiedNotification, sentAs body: [UInt8]) async throws -> NotificationOutcome
    {
        try await observe(notification.record, body: body)
        return try await outcome(of: notification.request)
    }

    /// Stores a notification that states nothing about a transaction by itself.
    package func store(_ notification: NotificationRecord) async throws -> NotificationOutcome {
        try await outcome(of: .notify(notification, stating: nil))
    }

    /// Applies each of some purchases like a statement of the App Store: it goes to the user of its account token, or to the owner of
    /// the purchase. One for nobody is parked.
    ///
    /// - Parameter notification: The notification to store with the purchases; nil for none. It is stored with the last one, so that all
    ///   others are applied whenever the notification is known.
    package func outcomes(
        ofStated purchases: VerifiedPurchases, notifiedBy notification: NotificationRecord? = nil
    ) async throws -> [NotificationOutcome] {
        var outcomes: [NotificationOutcome] = []
        for (index, claim) in purchases.claims.enumerated() {
            if let notification, index == purchases.claims.count - 1 {
                outcomes.append(try await outcome(of: .notify(notification, stating: claim)))
            } else {
                outcomes.append(try await outcome(of: .state(claim)))
            }
        }
        if let notification, purchases.claims.isEmpty { outcomes.append(try await store(notification)) }
        return outcomes
    }

    func outcome(of request: ClaimRequest) async throws -> NotificationOutcome {
        guard case .recorded(let outcome) = try await claims.answer(request) else { throw RedemptionError.userUnknown }
        return outcome
    }
}

extension ResponseBodyV2DecodedPayload {
    /// The token of a purchase outside the App Store that the notification is about (`EXTERNAL_PURCHASE_TOKEN`).
    fileprivate var externalPurchase: ExternalPurchase.Token? {
        guard subject == .externalPurchaseToken, case .object(let part)? = fields[subject.rawValue] else { return nil }
        return ExternalPurchase.Token(part, statedAt: signedDate)
    }
}

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
        var (known, repeated): (Set<NotificationRecord.Key>, Set<NotificationRecord.Key>) = ([], [])
        try database.forEachRow(
            """
            SELECT origin, notification_uuid, repeated_at FROM notification
            WHERE notification_uuid \(database.isIn("$1"))
            """,
            [database.list(eachOf: keys.map(\.uuid.text))]
        ) { row in
            let key = NotificationRecord.Key(origin: try row.next(), uuid: ByteKey(try row.next()))
            known.insert(key)
            let repeatedAt: Timestamp? = try row.next()
            if repeatedAt != nil { repeated.insert(key) }
        }
        return (known, repeated)
    }

    /// A notification that is received for the first time.
    typealias Received = (notification: NotificationRecord, claim: Claim?, outcome: NotificationOutcome)

    func insert(_ received: [Received], at moment: Timestamp) throws {
        try database.insert(
            into: "notification",
            [
                "notification_uuid", "origin", "app", "type", "subtype", "transaction_id", "signed_at", "received_at",
                "proof_digest", "original_transaction_id", "outcome", "content",
            ],
            received.map { received in
                let (notification, claim) = (received.notification, received.claim)
                var (transaction, original) = (claim?.transactionIdentifier, claim?.originalTransactionIdentifier)
                if claim == nil, case .transaction(let identifier, let first) = notification.subject {
                    (transaction, original) = (identifier, first)
                }
                return [
                    notification.notificationUUID, notification.origin, apps[notification.app], notification.type,
                    notification.subtype,
                    transaction, notification.signedAt, moment, notification.proofDigest, original,
                    received.outcome.rawValue, notification.content,
                ]
            })
    }

    /// Writes the tokens of purchases outside the App Store that notifications tell of.
    func learnExternalPurchases(of received: [Received], at moment: Timestamp) throws {
        for (notification, _, _) in received {
            guard case .externalPurchase(let token) = notification.subject else { continue }
            _ = try ExternalPurchaseRecords(database: database, apps: apps).learn(
                token, of: notification.app, at: notification.origin, isAnnounced: false, at: moment)
        }
    }

    /// Notes the first repetition of notifications. Later ones change nothing, so that repetitions cost little.
    func note(repeated keys: Set<NotificationRecord.Key>, at moment: Timestamp) throws {
        guard !keys.isEmpty else { return }
        let sorted = keys.sorted { ($0.uuid, $0.origin.rawValue) < ($1.uuid, $1.origin.rawValue) }
        try database.update(
            "notification", set: ["repeated_at"], where: ["notification_uuid", "origin"],
            sorted.map { [moment, $0.uuid.text, $0.origin] })
    }
}
