import Ledger
import Proofs

/// An entry of the audit log of any user.
package struct ActivityEntry: Hashable, Sendable, Identifiable {
    /// The number of the user, and the number of the entry in the user's audit log.
    package struct ID: Hashable, Sendable, CustomStringConvertible {
        let user: Int64
        let number: Int64

        package var description: String { "\(user)-\(number)" }
    }

    package let id: ID
    /// Nil for an erased user.
    package let user: User?
    package let entry: AuditEntry

    /// True if this entry belongs before another one in a list with the newest first.
    static func isNewer(_ one: ActivityEntry, than other: ActivityEntry) -> Bool {
        if one.entry.happenedAt != other.entry.happenedAt { return one.entry.happenedAt > other.entry.happenedAt }
        return (one.id.user, one.id.number) > (other.id.user, other.id.number)
    }
}
