/// The place of a statement among all statements about the same purchase. The one with the greater place counts.
///
/// A store signs its statements with a date of its own clock. Answers of Google Play have no date, and the clock of a service may be wrong,
/// so the ledger counts the questions.
package struct StatementOrder: Hashable, Sendable, Codable {
    /// The number of the question to Google Play; 0 for a statement that is no answer.
    package let number: Int64
    /// The date of the statement. It orders the statements of one number.
    package let date: Timestamp

    package init(number: Int64, date: Timestamp) {
        (self.number, self.date) = (number, date)
    }

    /// The number of a statement that no answer supersedes: Google Play has listed the purchase as voided. Readers of JSON keep it exact.
    package static let lastNumber: Int64 = 1 << 53 - 1
}

extension StatementOrder: Comparable {
    package static func < (left: StatementOrder, right: StatementOrder) -> Bool {
        (left.number, left.date) < (right.number, right.date)
    }
}
