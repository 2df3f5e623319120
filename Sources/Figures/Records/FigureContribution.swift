import Ledger

/// The contribution of a user to the sums.
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
