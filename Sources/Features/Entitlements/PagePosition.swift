import Proofs

/// The position of a row in a list that is read by pages: the values by which the list is ordered.
package struct PagePosition<First, Second, Third>: Hashable, Sendable, LosslessStringConvertible
where
    First: LosslessStringConvertible & Hashable & Sendable, Second: LosslessStringConvertible & Hashable & Sendable,
    Third: LosslessStringConvertible & Hashable & Sendable
{
    let first: First
    let second: Second
    let third: Third

    init(_ first: First, _ second: Second, _ third: Third) {
        (self.first, self.second, self.third) = (first, second, third)
    }

    /// - Returns: Nil for an invalid text.
    package init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, !text.utf8.contains(0), let first = First(parts[0]), let second = Second(parts[1]),
            let third = Third(parts[2])
        else { return nil }
        self.init(first, second, third)
    }

    package var description: String { "\(first) \(second) \(third)" }
}

/// The position of a user's record in a list of those of all users: its time in milliseconds, the number of its user, and its
/// own.
package typealias RecordPosition = PagePosition<Int64, Int64, Int64>

extension PagePosition: Comparable where First: Comparable, Second: Comparable, Third: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        (left.first, left.second, left.third) < (right.first, right.second, right.third)
    }
}
