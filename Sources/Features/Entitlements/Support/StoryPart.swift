import Ledger
import Proofs

/// A part of a user's story: the entries of a time, and of a kind.
package struct StoryPart: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        case purchases, renewals, refunds, refusals, team, notifications
    }

    /// The first moment; nil for the whole story.
    package let from: Timestamp?
    /// The first moment after the part; nil for the newest entries, too.
    package let until: Timestamp?
    /// Nil for all kinds.
    package let kind: Kind?

    /// - Parameters:
    ///   - month: The first day of a month in UTC; nil for all months.
    ///   - from: The first moment of the month in another time zone; nil in UTC.
    ///   - until: The first moment after it.
    package init(month: CalendarDay?, from: Timestamp? = nil, until: Timestamp? = nil, kind: Kind?) {
        self.from = month.map { from ?? $0.start }
        self.until = month.map { until ?? $0.firstOfNextMonth.start }
        self.kind = kind
    }

    func includes(_ entry: StoryEntry) -> Bool {
        guard let kind else { return true }
        guard case .event(let event, _, _) = entry.content else { return kind == .notifications }
        return kind.includes(event)
    }

    /// The position that all entries of the part follow; nil for the newest entry.
    var start: StoryEntry.Position? { until.map { StoryEntry.Position($0.millisecondsSince1970, 0, "") } }
}

extension StoryPart.Kind {
    fileprivate func includes(_ entry: AuditEntry) -> Bool {
        switch self {
        case .purchases: return [.granted, .productChanged, .transferredIn, .transferredOut].contains(entry.event)
        case .renewals:
            return [.expired, .renewalFailed, .gracePeriodBegan, .autoRenewDisabled, .autoRenewEnabled]
                .contains(entry.event)
        case .refunds: return [.revoked, .unitsRevoked, .refundAnswered].contains(entry.event)
        case .refusals: return entry.event == .refused
        case .team:
            if [.itemGiven, .itemTakenBack, .credited, .assigned, .moved].contains(entry.event) { return true }
            // A back end redeems with a key, too.
            switch entry.actor {
            case .member: return entry.event != .refused
            case .apiKey: return entry.event == .revoked
            case .user, .appStore, .till: return false
            }
        case .notifications: return false
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

extension [StoryEntry] {
    /// The notifications of these entries by the numbers of the events that they are about. Of several events about a transaction,
    /// a notification belongs to the nearest in time.
    package var notificationsOfEvents: [Int64: [StatedNotification]] {
        var ofEvents: [Int64: [StatedNotification]] = [:]
        for case .notification(let notification) in map(\.content) {
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
