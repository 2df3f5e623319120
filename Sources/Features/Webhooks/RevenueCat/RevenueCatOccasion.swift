import Entitlements
import Ledger
import Proofs

/// The facts beside an entry of the audit log that decide how many messages tell of it: what the log and the ledger have when it is written.
package struct RevenueCatOccasion: Sendable {
    /// A transaction of a purchase.
    package struct Period: Sendable {
        let beginsAt: Timestamp
        let endsAt: Timestamp?
        /// The date of the store's refund or revocation; nil without one.
        let revokedAt: Timestamp?
        /// True if the store has stated that another period replaces it, which the ledger may not have yet.
        var isUpgraded = false
    }

    /// The events of the same transaction before the entry.
    let earlier: Set<AuditEntry.Event>
    /// True if the transaction has an end.
    let hasEnd: Bool
    /// True if the store, and not the team alone, has taken the transaction back.
    let isRefunded: Bool
    /// True if the ledger has a later period of the same purchase, or awaits one that replaces it at once.
    let isFollowed: Bool
    /// True if the customer keeps the access by another transaction: of added seats, or of the period before one that has not begun.
    let keepsAccess: Bool

    /// - Parameters:
    ///   - earlier: The events of the same transaction before the entry.
    ///   - period: The transaction; nil if the ledger does not have it.
    ///   - others: The other transactions of the purchase.
    package init(earlier: Set<AuditEntry.Event> = [], _ period: Period? = nil, beside others: [Period] = []) {
        self.earlier = earlier
        let end = period?.endsAt
        hasEnd = end != nil
        isRefunded = period?.revokedAt != nil
        isFollowed =
            period?.isUpgraded ?? false
            || end != nil && others.contains { $0.endsAt != end && $0.beginsAt > period?.beginsAt ?? $0.beginsAt }
        let isVoid = period.map { period in period.revokedAt.map { $0 < period.beginsAt } ?? false } ?? false
        keepsAccess = isVoid || others.contains { $0.endsAt == end && $0.revokedAt == nil }
    }
}

extension RevenueCatOccasion.Period {
    package init(_ transaction: RedeemedTransaction) {
        self.init(
            beginsAt: transaction.purchaseDate, endsAt: transaction.expiresAt, revokedAt: transaction.revocationDate,
            isUpgraded: transaction.facts.bool(.isUpgraded) == true)
    }
}

/// The rules that derive the number of messages from the event (revenuecat.com/docs/integrations/webhooks, "Event Types and Fields" and
/// "Common Webhook Flows").
extension RevenueCatEvent {
    /// The messages about an entry, in their order. Nil stands for the event's own one, and a type for a companion.
    package static func messages(about entry: AuditEntry, on occasion: RevenueCatOccasion) -> [Kind?] {
        guard isSent(about: entry) else { return [] }
        // The team revokes the whole purchase.
        let isByStore = occasion.isRefunded && entry.reason == nil
        switch entry.event {
        // "RevenueCat will immediately dispatch a BILLING_ISSUE event and a CANCELLATION event with a cancel_reason of BILLING_ERROR."
        case .gracePeriodBegan: return [nil, .cancellation]
        // "If you do not have grace periods enabled, you'll immediately receive an EXPIRATION."
        case .renewalFailed where occasion.earlier.contains(.gracePeriodBegan): return [nil]
        case .renewalFailed: return [.billingIssue, .cancellation] + (occasion.earlier.contains(.paused) ? [] : [nil])
        // The access had ended before, and one EXPIRATION says so.
        case .expired: return occasion.earlier.isDisjoint(with: [.renewalFailed, .paused]) ? [nil] : []
        // RevenueCat tells of a pause when the customer plans it. No answer of Google Play tells of it before it begins.
        case .paused: return [.subscriptionPaused, nil]
        // "Refunds for earlier subscription periods do not trigger this event" (`CANCELLATION`).
        case .revoked where isByStore && occasion.isFollowed: return []
        case .paymentRefunded: return occasion.isFollowed ? [] : [nil]
        case .revoked:
            // One CANCELLATION tells of a refund. The goods may be taken later.
            let isTold =
                isByStore && occasion.earlier.contains(.paymentRefunded) && entry.refund?.milliunits == 0
            // Back ends remove access at an EXPIRATION, whose reason may be CUSTOMER_SUPPORT or DEVELOPER_INITIATED.
            let endsAccess =
                occasion.hasEnd && !(isByStore && occasion.keepsAccess)
                && occasion.earlier.isDisjoint(with: Self.endings)
            return (isTold ? [] : [nil]) + (endsAccess ? [.expiration] : [])
        default: return [nil]
        }
    }

    /// The SQL of the order of an event's messages: an EXPIRATION comes last, and a CANCELLATION before it.
    static let order = """
        (webhook_delivery.companion = '\(Kind.expiration.rawValue)'
            OR webhook_delivery.companion = '' AND audit.event IN \([AuditEntry.Event.renewalFailed, .paused].sqlList)),
        webhook_delivery.companion = '\(Kind.cancellation.rawValue)'
        """

    /// The events after which the customer has no access by the same transaction.
    private static let endings: Set<AuditEntry.Event> = [.renewalFailed, .expired, .paused]
}

extension RevenueCatOccasion {
    /// The events that have more or fewer messages than one.
    private static let asking: Set<AuditEntry.Event> = [
        .renewalFailed, .expired, .revoked, .paymentRefunded,
    ]

    /// The earlier events on which the messages depend.
    private static let companions: [AuditEntry.Event] = [
        .gracePeriodBegan, .renewalFailed, .expired, .paused, .paymentRefunded,
    ]

    /// A transaction in a user's audit log.
    private struct Place: Hashable {
        let user: Int64
        let origin: Origin?
        let reference: ByteKey
    }

    /// The occasions of new records, in their order. Two statements read those of all records.
    static func occasions(
        of records: [(record: AuditRecord, user: Int64)], in database: any LedgerDatabase
    ) throws -> [RevenueCatOccasion] {
        let asking = records.filter { Self.asking.contains($0.record.entry.event) }
        guard !asking.isEmpty else { return records.map { _ in RevenueCatOccasion() } }
        let users = database.list(Set(asking.map(\.user)).sorted())
        let references = database.list(eachPacked: asking.map(\.record.entry.reference))
        var events: [Place: [(number: Int64, event: AuditEntry.Event)]] = [:]
        try database.forEachRow(
            """
            SELECT user_id, origin, reference, number, event FROM audit
            WHERE user_id \(database.isIn(numbers: "$1")) AND reference \(database.isIn(packed: "$2"))
                AND event IN \(companions.sqlList)
            """,
            [users, references]
        ) { row in
            let place = Place(user: try row.next(), origin: try row.next(), reference: ByteKey(try row.next()))
            events[place, default: []].append((try row.next(), try row.next()))
        }
        let periods =
            try asking.contains { [.revoked, .paymentRefunded].contains($0.record.entry.event) }
            ? periods(of: users, references, in: database) : [:]
        return records.map { record, user in
            let place = Place(user: user, origin: record.entry.origin, reference: ByteKey(record.entry.reference))
            let (period, others) = periods[place] ?? (nil, [])
            let earlier = (events[place] ?? []).lazy.filter { $0.number < record.number }.map(\.event)
            return RevenueCatOccasion(earlier: Set(earlier), period, beside: others)
        }
    }

    /// The periods of transactions, beside the others of their purchases.
    private static func periods(
        of users: SQLValue, _ references: SQLValue, in database: any LedgerDatabase
    ) throws -> [Place: (period: Period?, others: [Period])] {
        var periods: [Place: (period: Period?, others: [Period])] = [:]
        guard try database.has("redeemed_transaction") else { return periods }
        try database.forEachRow(
            """
            SELECT revoked.user_id, revoked.origin, revoked.transaction_id, revoked.purchase_date, revoked.expires_at,
                revoked.revocation_date, coalesce(revoked.is_upgraded, 0), other.purchase_date, other.expires_at, other.revocation_date
            FROM redeemed_transaction AS revoked
            LEFT JOIN redeemed_transaction AS other ON other.user_id = revoked.user_id
                AND other.original_transaction_id = revoked.original_transaction_id
                AND other.origin = revoked.origin AND other.app = revoked.app
                AND other.transaction_id <> revoked.transaction_id
                AND (other.purchase_date > revoked.purchase_date OR other.expires_at = revoked.expires_at)
            WHERE revoked.user_id \(database.isIn(numbers: "$1")) AND revoked.transaction_id \(database.isIn(packed: "$2"))
            """,
            [users, references]
        ) { row in
            let place = Place(user: try row.next(), origin: try row.next(), reference: ByteKey(try row.next()))
            let period = Period(
                beginsAt: try row.next(), endsAt: try row.next(), revokedAt: try row.next(), isUpgraded: try row.next())
            let beginsAt: Timestamp? = try row.next()
            let other = try beginsAt.map { Period(beginsAt: $0, endsAt: try row.next(), revokedAt: try row.next()) }
            periods[place, default: (period, [])].others += [other].compactMap(\.self)
        }
        return periods
    }
}
