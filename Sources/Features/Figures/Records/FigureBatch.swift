import Ledger

/// Users whose contributions are recomputed, from one snapshot.
struct FigureBatch: Sendable {
    struct Entry: Sendable {
        let user: Int64
        /// The number of the last write for the user.
        let version: Int64
        /// The numbers of the writes that the sums did not include.
        let pending: [Int64]
        let previous: FigureContribution?
        let sums: FigureSums
    }

    let entries: [Entry]
    /// The last user of the batch; nil if no user was left.
    let last: Int64?
}
