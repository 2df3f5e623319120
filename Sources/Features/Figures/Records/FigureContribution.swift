import Ledger

/// The contribution of a user to the sums.
struct FigureContribution: Hashable, Sendable {
    /// The number of the write after which it was computed.
    let version: Int64
    /// The version of the rules by which it was computed.
    let rules: Int
    let sums: [UInt8]

    init(_ row: SQLRow) throws {
        (version, rules) = (try row["version"], try row["rules"])
        sums = try row["sums"]
    }
}
