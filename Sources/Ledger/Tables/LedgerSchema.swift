/// The versions of the ledger's tables.
enum LedgerSchema {
    /// The version of the descriptions in `Table`.
    static let version = 16
    /// The earliest version that a service takes over when it starts.
    static let earliestVersion = 14

    /// The statements that make a new ledger.
    static func definition(in dialect: SQLDialect) -> String {
        Table.all.map { $0.definition(in: dialect) }.joined(separator: "\n\n")
    }
}
