import Proofs

/// A user who has redeemed a transaction of a product.
package struct ProductCustomer: Hashable, Sendable {
    package let user: User
    /// The user's latest transaction of the product.
    package let transactionIdentifier: String
    package let origin: Origin
    package let purchaseDate: Timestamp
    package let redeemedAt: Timestamp

    /// A page of the customers of a product.
    package struct Page: Hashable, Sendable {
        /// The customers, the latest redemption first.
        package let customers: [ProductCustomer]
        /// The end of the page; nil on the last page. A page may be short, even empty, before the last one.
        package let next: Position?
    }

    /// The position of a transaction in the list of a product: its redemption, its user, and its number among the user's.
    package struct Position: Hashable, Sendable, CustomStringConvertible {
        let redeemedAt: Timestamp
        let user: Int64
        let sequence: Int64

        package var description: String { "\(redeemedAt.millisecondsSince1970) \(user) \(sequence)" }
    }
}

extension ProductCustomer.Position {
    /// - Returns: Nil for an invalid text.
    package init?(_ text: String) {
        let numbers = text.split(separator: " ", omittingEmptySubsequences: false).map { Int64($0) }
        guard numbers.count == 3, let moment = numbers[0], let user = numbers[1], let sequence = numbers[2] else {
            return nil
        }
        self.init(redeemedAt: Timestamp(millisecondsSince1970: moment), user: user, sequence: sequence)
    }
}
