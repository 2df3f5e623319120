import Ledger
import Proofs

/// An entry of a user's audit log whose actor is a member of the team.
public struct TeamAction: Hashable, Sendable {
    /// The place of an action in the list of all actions, newest first.
    public struct Position: Hashable, Sendable {
        let happenedAt: Timestamp
        let user: Int64
        let number: Int64

        init(happenedAt: Timestamp, user: Int64, number: Int64) {
            self.happenedAt = happenedAt
            self.user = user
            self.number = number
        }

        /// - Returns: Nil for a text that `text` never returns.
        public init?(_ text: String) {
            let numbers = text.split(separator: " ", omittingEmptySubsequences: false).map { Int64($0) }
            guard numbers.count == 3, let time = numbers[0], let user = numbers[1], let number = numbers[2] else {
                return nil
            }
            self.init(happenedAt: Timestamp(millisecondsSince1970: time), user: user, number: number)
        }

        public var text: String { "\(happenedAt.millisecondsSince1970) \(user) \(number)" }
    }

    /// A page of the list.
    public struct Page: Sendable {
        public let actions: [TeamAction]
        /// The place after which the next page begins; nil for the last page.
        public let end: Position?
    }

    public let position: Position
    /// The user; nil for an erased user.
    public let user: User?
    public let entry: AuditEntry
}
