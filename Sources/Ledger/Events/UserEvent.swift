import Commerce

/// Something that every screen of a user wants to know.
public struct UserEvent: Hashable, Sendable {
    /// An event of the audit log's, or a change of the user's own.
    public let kind: String
    /// The product, the item or the balance; empty where there is but one.
    public let subject: String
    /// The transaction, the grant or the spending; nil for a change of the user's own.
    public let reference: String?
    public let happenedAt: Timestamp
    /// Up to which a listener knows everything who has seen this one.
    public let position: EventPosition
}

/// How far a listener has come: the number of the last record of the user's audit log, and of their last change. Both are dense
/// and grow by one, so that what is missing is seen.
///
/// Written as `12-3`.
public struct EventPosition: Hashable, Sendable, CustomStringConvertible {
    public let audit: Int64
    public let change: Int64

    public init(audit: Int64, change: Int64) {
        self.audit = audit
        self.change = change
    }

    /// - Returns: nil for a text of another form.
    public init?(_ text: String) {
        guard let match = text.wholeMatch(of: /([0-9]{1,18})-([0-9]{1,18})/), let audit = Int64(match.1),
            let change = Int64(match.2)
        else { return nil }
        self.init(audit: audit, change: change)
    }

    public var description: String { "\(audit)-\(change)" }
}

/// What a listener is told.
public enum EventAnswer: Hashable, Sendable {
    /// In their order; none when nothing has happened, and the listener is where it was.
    case events([UserEvent], upTo: EventPosition)
    /// More has happened than is kept, or the position is of another ledger: everything has to be read anew.
    case missed(EventPosition)
    /// Who the user was is erased.
    case erased
}

/// A change that stands in no audit log: most are of the user's own.
package struct UserChange {
    package enum Kind: String {
        case wished
        case wishRemoved
        case profileChanged
        /// What is paid for ends at another time than was said.
        case endChanged
    }

    /// How many are kept of each user.
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
