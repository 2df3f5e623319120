import Proofs

/// The pages of a list that a store gives one after another: a bound on their number, and what it has seen of their cursors.
///
/// A store that gives a cursor twice would be asked in a circle. One that always gives another would be asked for ever.
package struct ListedPages: Sendable {
    package enum Fault: Error {
        /// A page names itself or an earlier one as the next.
        case repeated
        /// The list goes on after the largest number of pages.
        case unfinished
    }

    private let maximum: Int
    /// Digests, because a cursor may be as long as an answer.
    private var seen: Set<[UInt8]> = []

    /// - Parameter maximum: The largest number of pages.
    package init(upTo maximum: Int) {
        self.maximum = maximum
    }

    /// The cursor of the page to ask for.
    ///
    /// - Parameter cursor: The cursor that the last page gives; nil for the end of the list.
    package mutating func next(_ cursor: String?) throws(Fault) -> String? {
        guard let cursor else { return nil }
        guard seen.insert(DigestAlgorithm.sha256.digest(of: Array(cursor.utf8))).inserted else { throw .repeated }
        guard seen.count < maximum else { throw .unfinished }
        return cursor
    }
}
