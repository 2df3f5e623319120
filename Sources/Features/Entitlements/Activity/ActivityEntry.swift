import Ledger
import Proofs

/// An entry of the audit log of any user.
public struct ActivityEntry: Hashable, Sendable, Identifiable {
    /// The number of the user, and the number of the entry in the user's audit log.
    public struct ID: Hashable, Sendable, CustomStringConvertible {
        let user: Int64
        let number: Int64

        public var description: String { "\(user)-\(number)" }
    }

    public let id: ID
    /// Nil for an erased user.
    public let user: User?
    public let entry: AuditEntry

    init(id: ID, user: User?, entry: AuditEntry) {
        self.id = id
        self.user = user
        self.entry = entry
    }

    /// True if this entry belongs before another one in a list with the newest first.
    static func isNewer(_ one: ActivityEntry, than other: ActivityEntry) -> Bool {
        if one.entry.happenedAt != other.entry.happenedAt { return one.entry.happenedAt > other.entry.happenedAt }
        return (one.id.user, one.id.number) > (other.id.user, other.id.number)
    }
}
