import Ledger
import Proofs

/// An entry of a user's audit log whose actor is a member of the team.
package struct TeamAction: Hashable, Sendable {
    /// The place of an action in the list of all actions, newest first.
    package struct Position: Hashable, Sendable {
        let happenedAt: Timestamp
        let user: Int64
        let number: Int64

        package var text: String { "\(happenedAt.millisecondsSince1970) \(user) \(number)" }
    }

    /// A page of the list.
    package struct Page: Sendable {
        package let actions: [TeamAction]
        /// The place after which the next page begins; nil for the last page.
        package let end: Position?
    }

    package let position: Position
    /// The user; nil for an erased user.
    package let user: User?
    package let entry: AuditEntry
}

extension TeamAction.Position {
    /// - Returns: Nil for a text that `text` never returns.
    package init?(_ text: String) {
        let numbers = text.split(separator: " ", omittingEmptySubsequences: false).map { Int64($0) }
        guard numbers.count == 3, let time = numbers[0], let user = numbers[1], let number = numbers[2] else {
            return nil
        }
        self.init(happenedAt: Timestamp(millisecondsSince1970: time), user: user, number: number)
    }
}
