import Proofs

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

    package init(audit: Int64, change: Int64) {
        self.audit = audit
        self.change = change
    }

    /// - Returns: Nil for a text of another form.
    package init?(_ text: String) {
        guard let match = text.wholeMatch(of: /([0-9]{1,18})-([0-9]{1,18})/), let audit = Int64(match.1),
            let change = Int64(match.2)
        else { return nil }
        self.init(audit: audit, change: change)
    }

    package var description: String { "\(audit)-\(change)" }
}

/// The answer to a listener.
package enum EventAnswer: Hashable, Sendable {
    /// The events in order, and the position after them. Empty if nothing has happened since the listener's position.
    case events([UserEvent], upTo: EventPosition)
    /// The ledger no longer has some of the events, or the position comes from another ledger. The listener reads all state
    /// again.
    case missed(EventPosition)
    /// The user was erased.
    case erased
}

/// A change that the audit log does not record. Users make most of them.
package struct UserChange {
    package enum Kind: String {
        case wished
        case wishRemoved
        case profileChanged
        /// A purchase ends at another time than it was reported to.
        case endChanged
    }

    /// The number of changes that the ledger keeps of each user.
    static let kept: Int64 = 200

    let kind: Kind
    /// The product; empty for the profile.
    let subject: String
    let happenedAt: Timestamp

    package init(kind: Kind, subject: String, happenedAt: Timestamp) {
        self.kind = kind
        self.subject = subject
        self.happenedAt = happenedAt
    }
}
