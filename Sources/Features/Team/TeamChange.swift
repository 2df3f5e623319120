import Ledger
import Proofs

/// A change of the team: the record of an action on a member. The audit logs are those of users, and have none of these.
package struct TeamChange: Hashable, Sendable {
    package enum Event: String, Sendable, CaseIterable, SQLConvertible {
        case added
        case invited
        case roleChanged
        case removed
        /// A member set a password.
        case passwordSet
        case codesTurnedOn
        case codesTurnedOff

        package var sqlValue: SQLValue { .text(rawValue) }

        package init?(_ value: SQLValue) {
            guard let text = String(value) else { return nil }
            self.init(rawValue: text)
        }
    }

    /// The number of the change; 1 for the first.
    package let number: Int64
    package let happenedAt: Timestamp
    package let event: Event
    package let actor: TeamActor
    /// The name of the member who was changed.
    package let member: String
    /// The new role; nil if the change is none of the role.
    package var role: TeamRole?
}
