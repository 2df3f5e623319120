import Ledger

/// Users whose part of the sums is computed anew, as of one moment.
struct FigureBatch: Sendable {
    struct Entry: Sendable {
        let user: Int64
        /// The number of the last write for the user.
        let version: Int64
        /// The numbers of the writes that the sums lacked.
        let pending: [Int64]
        let previous: FigureContribution?
        let sums: FigureSums
    }

    let entries: [Entry]
    /// The last user of the batch; nil if no user was left.
    let last: Int64?
}

/// What a user has added to the sums.
struct FigureContribution: Hashable, Sendable {
    /// The number of the write for the user that it was computed after.
    let version: Int64
    /// The version of the rules that it was computed by.
    let rules: Int
    let sums: [UInt8]

    init(_ row: SQLRow) throws {
        (version, rules) = (try row["version"], try row["rules"])
        sums = try row["sums"]
    }
}
