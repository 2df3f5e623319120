import Ledger
import Proofs

/// A refused purchase in a user's audit log.
package struct RecordedRefusal: Hashable, Sendable {
    /// Nil if the user was erased.
    package let user: User?
    /// The number in the user's audit log.
    package let number: Int64
    package let happenedAt: Timestamp
    /// The code of the refusal.
    package let code: String
    package let actor: AuditActor
    package let origin: Origin?
    package let transactionIdentifier: String
    package let productIdentifier: String
    package let position: Position

    /// The position of a refusal among those of its code: by its time, then its user's number and its own.
    package struct Position: Hashable, Sendable, CustomStringConvertible {
        let happenedAt: Timestamp
        let user: Int64
        let number: Int64

        package var description: String { "\(happenedAt.millisecondsSince1970) \(user) \(number)" }
    }
}

extension RecordedRefusal.Position {
    /// - Returns: Nil for an invalid text.
    package init?(_ text: String) {
        let numbers = text.split(separator: " ", omittingEmptySubsequences: false).map { Int64($0) }
        guard numbers.count == 3, let moment = numbers[0], let user = numbers[1], let number = numbers[2] else {
            return nil
        }
        self.init(happenedAt: Timestamp(millisecondsSince1970: moment), user: user, number: number)
    }
}

/// The recorded refusals of one code.
package struct RefusalGroup: Hashable, Sendable {
    /// The maximum count. A greater number of refusals has this count.
    package static let maximumCount = 10_000

    package let code: String
    /// The number of refusals in the counted period, up to `maximumCount`.
    package let count: Int
    /// The latest refusals of any time, newest first.
    package let latest: [RecordedRefusal]
}
