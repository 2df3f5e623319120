import Ledger
import Proofs
import Vocabulary

/// An entry of a user's story: an action of the App Store, the user or the team, or an effect of time.
package struct StoryEntry: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// - number: The number in the audit log.
        /// - otherOwner: The owner of a purchase that was refused to the user; nil for another event.
        case event(AuditEntry, number: Int64, otherOwner: User?)
        case notification(StatedNotification)
    }

    package let content: Content

    /// The time at which the entry took effect; for a notification, the time of its signature.
    package var happenedAt: Timestamp {
        switch content {
        case .event(let entry, _, _): entry.happenedAt
        case .notification(let notification): notification.signedAt
        }
    }

    /// The position of an entry: its time in milliseconds, 0 for a notification or the number of an event, and the UUID of a
    /// notification. So notifications come before the events that they cause.
    package typealias Position = PagePosition<Int64, Int64, String>

    package var position: Position {
        switch content {
        case .event(let entry, let number, _):
            Position(entry.happenedAt.millisecondsSince1970, number, "")
        case .notification(let notification):
            Position(notification.signedAt.millisecondsSince1970, 0, notification.notificationUUID)
        }
    }

    fileprivate static func isNewer(_ one: Position, than other: Position) -> Bool {
        if (one.first, one.second) != (other.first, other.second) {
            return (one.first, one.second) > (other.first, other.second)
        }
        return ByteKey(one.third) > ByteKey(other.third)
    }

    package var sentence: String {
        switch content {
        case .event(let entry, _, _): Self.sentence(entry)
        case .notification(let notification): Self.sentence(notification)
        }
    }

    private static func sentence(_ entry: AuditEntry) -> String {
        let subject = entry.subject
        guard entry.event == .autoRenewDisabled, let reason = ExpirationReason(canceler: entry.reason) else {
            return entry.event.rule.sentence(entry)
        }
        switch reason {
        case .customerCancelled: return "The customer turned the renewal of \(subject) off."
        case .billingError:
            let store = (entry.origin?.store ?? .appStore).nameInSentence
            return "\(store) canceled the renewal of \(subject), such as for a payment that was declined."
        case .developerCancelled: return "The developer canceled the renewal of \(subject)."
        case .replaced: return "Another subscription replaces \(subject), which does not renew."
        case .customerDidNotConsentToPriceIncrease:
            return "\(subject) does not renew, because the customer did not consent to a price increase."
        case .productNotAvailable, .other: return entry.event.rule.sentence(entry)
        }
    }

    private static func sentence(_ notification: StatedNotification) -> String {
        let type = [notification.type, notification.subtype].compactMap(\.self).joined(separator: " ")
        return "\(notification.origin.store.company) notified of \(type): \(notification.outcome.rawValue)."
    }
}

/// A notification of a store about a purchase, as the ledger stores it.
package struct StatedNotification: Hashable, Sendable {
    package let notificationUUID: String
    package let origin: Origin
    /// The type, in the store's words.
    package let type: String
    package let subtype: String?
    package let transactionIdentifier: String?
    package let originalTransactionIdentifier: String?
    package let signedAt: Timestamp
    package let receivedAt: Timestamp
    package let outcome: NotificationOutcome
    /// The SHA-256 of the signed bytes.
    package let proofDigest: [UInt8]
    /// The decoded notification as JSON, without the proofs inside it; nil if it was too long.
    package let content: String?
}

extension StatedNotification {
    /// True if the customer has asked the App Store for a refund, or it has declined one. No event of the audit log says so.
    package var isRefundRequest: Bool { asksForRefund || type == NotificationTypeV2.refundDeclined.rawValue }

    package var asksForRefund: Bool { type == NotificationTypeV2.consumptionRequest.rawValue }

    fileprivate var isAboutRefund: Bool { isRefundRequest || type == NotificationTypeV2.refundReversed.rawValue }

    static let columns = """
        notification_uuid, notification.origin, type, subtype, transaction_id, notification.original_transaction_id,
            signed_at, received_at, outcome, proof_digest, content
        """

    /// The notification in the next columns, which are `columns`.
    init(_ row: inout ResultRow) throws {
        self.init(
            notificationUUID: try row.next(), origin: try row.next(), type: try row.next(), subtype: try row.next(),
            transactionIdentifier: try row.next(), originalTransactionIdentifier: try row.next(),
            signedAt: try row.next(), receivedAt: try row.next(), outcome: try row.next(),
            proofDigest: try row.next(), content: try row.next())
    }
}

extension EntitlementService {
    /// A user's story, newest first: events of the audit log, and notifications about the user's purchases.
    ///
    /// - Parameter position: The position of the last entry of the previous page; nil for the first page.
    package func story(of user: User, before position: StoryEntry.Position?, limit: Int) async throws -> [StoryEntry] {
        try await ledger.read { transaction in
            guard let number = try transaction.users.known(user) else { return [] }
            let events = try transaction.events(of: number, in: limitingApp, before: position, limit: limit)
            let owners = try transaction.owners(
                of: events.map(\.entry).filter { $0.event == .refused }, in: limitingApp)
            let notifications = try transaction.notifications(
                of: number, in: limitingApp, before: position, limit: limit)
            let entries =
                events.map { record in
                    let owner = record.entry.event == .refused ? owners[record.entry.reference] : nil
                    return StoryEntry(
                        content: .event(record.entry, number: record.number, otherOwner: owner == user ? nil : owner))
                } + notifications.map { StoryEntry(content: .notification($0)) }
            return Array(entries.sorted { StoryEntry.isNewer($0.position, than: $1.position) }.prefix(limit))
        }
    }
}

/// The parts of a story. An app limits them to its purchases; nil for all apps.
extension LedgerTransaction {
    fileprivate func events(
        of user: Int64,
        in app: String?,
        before position: StoryEntry.Position?,
        limit: Int
    ) throws -> [(entry: AuditEntry, number: Int64)] {
        try database.rows(
            """
            SELECT \(AuditEntry.columns), number FROM audit
            WHERE user_id = $1 AND (happened_at, number) < ($2, $3)
                \(app == nil ? "" : "AND app = (SELECT app FROM app WHERE bundle_id = $4)")
            ORDER BY happened_at DESC, number DESC LIMIT $\(app == nil ? 4 : 5)
            """,
            [user, position?.first ?? .max, position?.second ?? .max] + (app.map { [$0] } ?? []) + [limit]
        ) { (entry: try AuditEntry(&$0), number: try $0.next()) }
    }

    fileprivate func notifications(
        of user: Int64,
        in app: String?,
        before position: StoryEntry.Position?,
        limit: Int
    ) throws -> [StatedNotification] {
        // An event follows the notifications of its millisecond.
        let identifier = position.flatMap { $0.second > 0 ? nil : $0.third }
        let (start, ofApp) = (
            app == nil ? 2 : 3, app == nil ? "" : "AND app = (SELECT app FROM app WHERE bundle_id = $2)"
        )
        let parts: [[any SQLConvertible]] = [
            [user], app.map { [$0] } ?? [], [position?.first ?? .max], identifier.map { [$0] } ?? [], [limit],
        ]
        return try database.rows(
            """
            SELECT \(StatedNotification.columns) FROM (
                SELECT DISTINCT original_transaction_id, origin, app FROM redeemed_transaction
                WHERE user_id = $1 \(ofApp)
            ) AS bought JOIN notification \(database.indexed(by: "notification_of_original"))
                ON notification.original_transaction_id = bought.original_transaction_id
                AND notification.origin = bought.origin AND notification.app = bought.app
            WHERE \(identifier == nil ? "signed_at <= $\(start)" : "(signed_at, notification_uuid) < ($\(start), $\(start + 1))")
            ORDER BY signed_at DESC, notification_uuid DESC LIMIT $\(identifier == nil ? start + 1 : start + 2)
            """,
            parts.flatMap(\.self), StatedNotification.init)
    }
}

/// A part of a user's story: the entries of a time, and of a kind.
package struct StoryPart: Hashable, Sendable {
    /// The first moment; nil for the whole story.
    package let from: Timestamp?
    /// The first moment after the part; nil for the newest entries, too.
    package let until: Timestamp?
    /// Nil for all kinds.
    package let kind: StoryKind?

    /// - Parameters:
    ///   - month: The first day of a month in UTC; nil for all months.
    ///   - from: The first moment of the month in another time zone; nil in UTC.
    ///   - until: The first moment after it.
    package init(month: CalendarDay?, from: Timestamp? = nil, until: Timestamp? = nil, kind: StoryKind?) {
        self.from = month.map { from ?? $0.start }
        self.until = month.map { until ?? $0.firstOfNextMonth.start }
        self.kind = kind
    }

    func includes(_ entry: StoryEntry) -> Bool {
        guard let kind else { return true }
        switch entry.content {
        case .event(let event, _, _): return kind.includes(event)
        case .notification(let notification):
            return kind == .notifications || kind == .refunds && notification.isAboutRefund
        }
    }

    /// The position that all entries of the part follow; nil for the newest entry.
    var start: StoryEntry.Position? { until.map { StoryEntry.Position($0.millisecondsSince1970, 0, "") } }
}

extension StoryKind {
    fileprivate func includes(_ entry: AuditEntry) -> Bool {
        if entry.event.rule.part == self { return true }
        guard self == .team else { return false }
        // A back end redeems with a key, too.
        switch entry.actor {
        case .member: return entry.event != .refused
        case .apiKey: return entry.event == .revoked
        case .user, .store, .till: return false
        }
    }
}

extension EntitlementService {
    /// A part of a user's story, newest first.
    ///
    /// - Parameter position: The position of the last entry of the previous page; nil for the first page.
    package func story(
        of user: User,
        _ part: StoryPart,
        before position: StoryEntry.Position?,
        limit: Int
    ) async throws -> [StoryEntry] {
        var (found, position, hasMore): ([StoryEntry], StoryEntry.Position?, Bool) = ([], position ?? part.start, true)
        while hasMore, found.count < limit {
            let read = try await story(of: user, before: position, limit: limit)
            let reached = read.prefix { entry in part.from.map { entry.happenedAt >= $0 } ?? true }
            found += reached.filter { part.includes($0) }
            (position, hasMore) = (read.last?.position, reached.count == limit)
        }
        return Array(found.prefix(limit))
    }
}

extension EntitlementService {
    /// The story of the money of a user's transaction, newest first: refunds that were requested, declined, paid or reversed, the requests
    /// of the team to the store, and its revocations.
    package func refundStory(of transaction: RedeemedTransaction, for user: User) async throws -> [StoryEntry] {
        try await ledger.read { ledger in
            guard let number = try ledger.users.known(user) else { return [] }
            let events = try ledger.moneyEvents(of: transaction, for: number).map { entry, number in
                StoryEntry(content: .event(entry, number: number, otherOwner: nil))
            }
            let key = TransactionKey(
                app: try transaction.seller, origin: transaction.origin,
                identifier: transaction.originalTransactionIdentifier)
            let notifications = try ledger.notifications(of: key, try ledger.apps).filter {
                $0.isRefundRequest
                    && $0.transactionIdentifier?.hasSameBytes(as: transaction.transactionIdentifier) ?? false
            }
            return (events + notifications.map { StoryEntry(content: .notification($0)) })
                .sorted { StoryEntry.isNewer($0.position, than: $1.position) }
        }
    }
}

extension LedgerTransaction {
    /// The events about the money of a transaction. One that grants it is a reversed refund if it is later than the redemption.
    fileprivate func moneyEvents(
        of transaction: RedeemedTransaction, for user: Int64
    ) throws -> [(entry: AuditEntry, number: Int64)] {
        let events: [AuditEntry.Event] = [
            .revoked, .unitsRevoked, .paymentRefunded, .refundAnswered, .granted, .storeAsked, .storeRequestDecided,
            .storeAnswered,
        ]
        let found = try database.rows(
            """
            SELECT \(AuditEntry.columns), number FROM audit
            WHERE user_id = $1 AND event IN \(events.sqlList) AND reference = $2 AND origin = $3
            ORDER BY happened_at DESC, number DESC
            """,
            [user, SQLValue.packed(transaction.transactionIdentifier), transaction.origin]
        ) { (entry: try AuditEntry(&$0), number: try $0.next() as Int64) }
        return found.filter { $0.entry.event != .granted || $0.entry.happenedAt > transaction.redeemedAt }
    }
}

extension [StoryEntry] {
    /// The notifications of these entries by the numbers of the events that they are about. Of several events about a transaction,
    /// a notification belongs to the nearest in time. A request for a refund is no part of another event.
    package var notificationsOfEvents: [Int64: [StatedNotification]] {
        var ofEvents: [Int64: [StatedNotification]] = [:]
        for case .notification(let notification) in map(\.content) where !notification.isRefundRequest {
            var nearest: (distance: Double, number: Int64)?
            for case .event(let event, let number, _) in map(\.content)
            where event.origin == notification.origin
                && notification.transactionIdentifier?.hasSameBytes(as: event.reference) ?? false
            {
                let distance = abs(
                    Double(event.happenedAt.millisecondsSince1970) - Double(notification.signedAt.millisecondsSince1970)
                )
                if distance < nearest?.distance ?? .infinity { nearest = (distance, number) }
            }
            if let nearest { ofEvents[nearest.number, default: []].append(notification) }
        }
        return ofEvents
    }
}
