import Proofs
import Vocabulary

/// The statements on the events of users, inside the caller's transaction.
package struct EventRecords {
    let database: any LedgerDatabase

    /// The number of changes that the ledger keeps of each user.
    private static let keptChanges: Int64 = 200

    /// Records changes, and deletes the oldest changes of each user beyond the limit.
    ///
    /// - Parameter subjects: The product of each change, empty for the profile; and the user.
    package func append(
        _ kind: UserChange, _ subjects: [(subject: String, user: Int64)], at moment: Timestamp
    ) throws {
        guard !subjects.isEmpty else { return }
        let users = Set(subjects.map(\.user))
        var last: [Int64: Int64] = try database.dictionary(
            """
            SELECT user_id, max(number) FROM user_change WHERE user_id \(database.isIn(numbers: "$1"))
            GROUP BY user_id
            """,
            [database.list(users.sorted())]
        ) { (try $0.next(), try $0.next()) }
        let numbered = subjects.map { subject, user in
            last[user, default: 0] += 1
            return (subject: subject, user: user, number: last[user, default: 0])
        }
        try database.insert(
            into: "user_change", ["user_id", "number", "kind", "subject", "happened_at"],
            numbered.map { [$0.user, $0.number, kind.rawValue, $0.subject, moment] })
        // The numbers have no gaps: each new change replaces one old change.
        try database.delete(
            from: "user_change", where: ["user_id", "number"],
            numbered.filter { $0.number > Self.keptChanges }.map { [$0.user, $0.number - Self.keptChanges] })
        for user in users { database.recordChange(of: user) }
    }

    /// The position after the last event of a user.
    package func position(of user: Int64) throws -> EventPosition {
        try state(of: user).position
    }

    /// The events of a user after a position, in order.
    ///
    /// - Parameter limit: The largest number of audit records, and the largest number of changes.
    package func events(of user: Int64, after position: EventPosition, limit: Int) throws -> EventAnswer {
        let (last, isErased) = try state(of: user)
        // The App Store still states what happens to the purchases. Erasure is the last event of a user.
        if isErased { return .erased }
        if position == last { return .events([], upTo: position) }
        // A position beyond the last event comes from another ledger.
        guard position.audit <= last.audit, position.change <= last.change else { return .missed(last) }
        let audit = try entries(
            "SELECT number, event, \(AuditEntry.subject), reference, happened_at FROM audit", of: user,
            after: position.audit, limit
        )?.map { entry in
            var entry = entry
            entry.kind = AuditEntry.Event.words.stated(entry.kind)
            return entry
        }
        let changes = try entries(
            "SELECT number, kind, subject, NULL, happened_at FROM user_change", of: user, after: position.change, limit)
        guard let audit, let changes else { return .missed(last) }
        return merged(audit, changes, after: position)
    }

    /// A row of one of the two lists of a user's events.
    private typealias Entry =
        (number: Int64, kind: String, subject: String, reference: String?, happenedAt: Timestamp)

    /// The entries of a list after a number.
    ///
    /// - Returns: Nil if the next entry is no longer there.
    private func entries(_ list: String, of user: Int64, after number: Int64, _ limit: Int) throws -> [Entry]? {
        let entries = try database.rows(
            "\(list) WHERE user_id = $1 AND number > $2 ORDER BY number LIMIT $3", [user, number, limit]
        ) { row -> Entry in (try row.next(), try row.next(), try row.next(), try row.next(), try row.next()) }
        return entries.first.map { $0.number == number + 1 } ?? true ? entries : nil
    }

    /// The numbers of the user's last audit record and last change, and true if the user was erased.
    private func state(of user: Int64) throws -> (position: EventPosition, isErased: Bool) {
        let state = try database.row(
            """
            SELECT coalesce((SELECT max(number) FROM audit WHERE user_id = $1), 0),
                coalesce((SELECT max(number) FROM user_change WHERE user_id = $1), 0),
                (SELECT issuer FROM "user" WHERE user_id = $1)
            """,
            [user]
        ) { row -> (EventPosition, String?) in
            (EventPosition(audit: try row.next(), change: try row.next()), try row.next())
        }
        guard let (position, issuer) = state else { throw ColumnMismatch.column("audit") }
        return (position, issuer == User.erasedIssuer)
    }

    /// Merges both lists by time. Each list keeps its order.
    private func merged(_ audit: [Entry], _ changes: [Entry], after position: EventPosition) -> EventAnswer {
        var (audit, changes, position) = (audit[...], changes[...], position)
        var events: [UserEvent] = []
        while !audit.isEmpty || !changes.isEmpty {
            let isAudit =
                changes.first.map { change in audit.first.map { $0.happenedAt <= change.happenedAt } ?? false } ?? true
            let entry = isAudit ? audit.removeFirst() : changes.removeFirst()
            position = EventPosition(
                audit: isAudit ? entry.number : position.audit, change: isAudit ? position.change : entry.number)
            if isAudit, AuditEntry.Event(rawValue: entry.kind)?.rule.isToldToApps == false { continue }
            events.append(
                UserEvent(
                    kind: entry.kind, subject: entry.subject, reference: entry.reference,
                    happenedAt: entry.happenedAt, position: position))
        }
        return .events(events, upTo: position)
    }
}

/// An event that the apps of a user display.
package struct UserEvent: Hashable, Sendable {
    /// The event of an audit entry, or the kind of a user's change.
    package let kind: String
    /// The product, the item or the balance; empty for the profile.
    package let subject: String
    /// The transaction, the grant or the spending; nil for a user's change.
    package let reference: String?
    package let happenedAt: Timestamp
    /// The position of a listener after this event.
    package let position: EventPosition
}

/// The position of a listener: the numbers of the user's last audit record and last change. Both numbers grow by one, so that a
/// gap shows missed events.
///
/// The text form is `12-3`.
package struct EventPosition: Hashable, Sendable, CustomStringConvertible {
    package let audit: Int64
    package let change: Int64

    package static let beginning = EventPosition(audit: 0, change: 0)

    /// A position after all events, as of another ledger.
    package static let afterAll = EventPosition(audit: .max, change: .max)

    package var description: String { "\(audit)-\(change)" }
}

extension EventPosition {
    /// - Returns: Nil for a text of another form.
    package init?(_ text: String) {
        guard let match = text.wholeMatch(of: /([0-9]{1,18})-([0-9]{1,18})/), let audit = Int64(match.1),
            let change = Int64(match.2)
        else { return nil }
        self.init(audit: audit, change: change)
    }
}

package enum EventAnswer: Hashable, Sendable {
    /// The events in order, and the position after them. Empty if nothing has happened since the listener's position.
    case events([UserEvent], upTo: EventPosition)
    /// The ledger no longer has some of the events, or the position comes from another ledger. The listener reads all state
    /// again.
    case missed(EventPosition)
    /// The user was erased.
    case erased
}

/// A kind of a user's change that the audit log does not record. Users make most of them.
package enum UserChange: String {
    case wished
    case wishRemoved
    case profileChanged
    /// A purchase ends at another time than it was reported to.
    case endChanged
}
