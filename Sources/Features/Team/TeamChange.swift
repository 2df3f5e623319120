import Ledger
import Proofs

/// A change of the team: the record of an action on a member. The audit logs are those of users, and have none of these.
public struct TeamChange: Hashable, Sendable {
    public enum Event: String, Sendable, CaseIterable, SQLConvertible {
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
    public let number: Int64
    public let happenedAt: Timestamp
    public let event: Event
    public let actor: TeamActor
    /// The name of the member who was changed.
    public let member: String
    /// The new role; nil if the change is none of the role.
    public let role: TeamRole?

    package init(
        number: Int64,
        happenedAt: Timestamp,
        event: Event,
        actor: TeamActor,
        member: String,
        role: TeamRole? = nil
    ) {
        self.number = number
        self.happenedAt = happenedAt
        self.event = event
        self.actor = actor
        self.member = member
        self.role = role
    }
}
