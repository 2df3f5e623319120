import Proofs

/// A user who has redeemed a transaction of a product.
public struct ProductCustomer: Hashable, Sendable {
    public let user: User
    /// The user's latest transaction of the product.
    public let transactionIdentifier: String
    public let origin: Origin
    public let purchaseDate: Timestamp
    public let redeemedAt: Timestamp

    /// A page of the customers of a product.
    public struct Page: Hashable, Sendable {
        /// The customers, the latest redemption first.
        public let customers: [ProductCustomer]
        /// The end of the page; nil on the last page. A page may be short, even empty, before the last one.
        public let next: Position?
    }

    /// The position of a transaction in the list of a product: its redemption, its user, and its number among the user's.
    public struct Position: Hashable, Sendable, CustomStringConvertible {
        let redeemedAt: Timestamp
        let user: Int64
        let sequence: Int64

        init(redeemedAt: Timestamp, user: Int64, sequence: Int64) {
            self.redeemedAt = redeemedAt
            self.user = user
            self.sequence = sequence
        }

        /// - Returns: Nil for an invalid text.
        public init?(_ text: String) {
            let numbers = text.split(separator: " ", omittingEmptySubsequences: false).map { Int64($0) }
            guard numbers.count == 3, let moment = numbers[0], let user = numbers[1], let sequence = numbers[2] else {
                return nil
            }
            self.init(redeemedAt: Timestamp(millisecondsSince1970: moment), user: user, sequence: sequence)
        }

        public var description: String { "\(redeemedAt.millisecondsSince1970) \(user) \(sequence)" }
    }
}
