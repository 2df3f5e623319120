/// A page of a customer's history, in the order in which the transactions last changed.
package struct HistoryPage: Hashable, Sendable {
    /// The maximum size of a page, as in Apple's API.
    package static let size = 20

    package let transactions: [Transaction]
    package let cursor: HistoryCursor
    package let hasMore: Bool

    /// - Parameters:
    /// - changes: All transactions, each with the number of its last change, in the order of these numbers.
    /// - cursor: The end of the previous page; nil for the first page.
    package init(
        of changes: [(change: Int64, transaction: Transaction)],
        after cursor: HistoryCursor?,
        isDescending: Bool,
        including isIncluded: (Transaction) -> Bool
    ) {
        let rest = (isDescending ? changes.reversed() : changes).filter { change, transaction in
            guard isIncluded(transaction) else { return false }
            return cursor.map { isDescending ? change < $0.change : change > $0.change } ?? true
        }
        let shown = rest.prefix(Self.size)
        transactions = shown.map(\.transaction)
        self.cursor =
            shown.last.map { HistoryCursor(change: $0.change, isDescending: isDescending) }
            ?? cursor ?? HistoryCursor(change: 0, isDescending: isDescending)
        hasMore = rest.count > shown.count
    }
}
