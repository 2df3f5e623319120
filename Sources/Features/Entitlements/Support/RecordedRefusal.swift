import Ledger
import Proofs

/// A refused purchase in a user's audit log.
public struct RecordedRefusal: Hashable, Sendable {
    /// Nil if the user was erased.
    public let user: User?
    /// The number in the user's audit log.
    public let number: Int64
    public let happenedAt: Timestamp
    /// The code of the refusal.
    public let code: String
    public let actor: AuditActor
    public let origin: Origin?
    public let transactionIdentifier: String
    public let productIdentifier: String
    public let position: Position

    /// The position of a refusal among those of its code: by its time, then its user's number and its own.
    public struct Position: Hashable, Sendable, CustomStringConvertible {
        let happenedAt: Timestamp
        let user: Int64
        let number: Int64

        init(happenedAt: Timestamp, user: Int64, number: Int64) {
            self.happenedAt = happenedAt
            self.user = user
            self.number = number
        }

        /// - Returns: Nil for an invalid text.
        public init?(_ text: String) {
            let numbers = text.split(separator: " ", omittingEmptySubsequences: false).map { Int64($0) }
            guard numbers.count == 3, let moment = numbers[0], let user = numbers[1], let number = numbers[2] else {
                return nil
            }
            self.init(happenedAt: Timestamp(millisecondsSince1970: moment), user: user, number: number)
        }

        public var description: String { "\(happenedAt.millisecondsSince1970) \(user) \(number)" }
    }
}

/// The recorded refusals of one code.
public struct RefusalGroup: Hashable, Sendable {
    /// The maximum count. A greater number of refusals has this count.
    public static let maximumCount = 10_000

    public let code: String
    /// The number of refusals in the counted period, up to `maximumCount`.
    public let count: Int
    /// The latest refusals of any time, newest first.
    public let latest: [RecordedRefusal]
}
