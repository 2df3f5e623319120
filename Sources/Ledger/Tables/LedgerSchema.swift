/// The tables of a ledger: the tables of users and of features.
struct LedgerSchema: Sendable {
    /// The names of the versions. A SQLite file records them, as GRDB did.
    static let versions = [
        "1: redeemed transactions and their entitlements", "2: users with an account token, and keys of callers",
        "3: what the team gives and takes back", "4: what ends, and what is spent",
        "5: what the App Store asks, and was asked", "6: purchases that move", "7: what happened to what users own",
        "8: what the team does, numbered for each user and purchase", "9: accounts and sessions",
        "10: profiles and wishes", "11: members of the seed's own app",
        "12: changes for who listens, and whom answers are about", "13: webhooks", "14: the catalog beside its files",
        "15: requests of spendings, and names of any spelling",
        "16: global keys, and the data of users", "17: facts that the App Store states",
        "18: several apps", "19: what the console shows", "20: bounds for strangers",
        "21: seats, and the statements of an event",
    ]
    /// The version of the schema.
    static let version = versions.count
    /// The earliest version that a service converts when it starts.
    static let earliestVersion = 14

    /// The earliest version that needs only new columns, indexes and tables. Earlier versions are converted.
    static let earliestExtendedVersion = 16

    /// The feature of users, then the given features.
    let features: [LedgerFeature]
    /// All tables, each after the tables that it refers to.
    let tables: [Table]
    private let kinds: [String: [String: Table.Column.Kind]]

    init(_ features: [LedgerFeature]) {
        self.features = [.users] + features
        tables = self.features.flatMap(\.tables)
        kinds = Dictionary(
            uniqueKeysWithValues: tables.map { table in
                (table.name, Dictionary(uniqueKeysWithValues: table.columns.map { ($0.name, $0.kind) }))
            })
    }

    /// The missing tables of a ledger: those of the features in use, and of the features of which it has a table.
    func missing(from present: Set<String>) -> [Table] {
        features.filter { feature in
            feature.isUsed || feature.tables.contains { present.contains($0.name) }
        }.flatMap(\.tables).filter { !present.contains($0.name) }
    }

    /// The statements that extend a version to this one: they add columns to the existing tables, and create the missing ones.
    func completion(of version: Int, with present: Set<String>, in dialect: SQLDialect) -> String {
        let added = tables.filter { present.contains($0.name) }.flatMap { $0.additions(since: version, in: dialect) }
        return (added + [missing(from: present).definition(in: dialect)]).joined(separator: "\n")
    }

    /// The kind of a column.
    ///
    /// - Throws: `SQLRow.Mismatch` if the table has no such column.
    func kind(of column: String, in table: String) throws(SQLRow.Mismatch) -> Table.Column.Kind {
        guard let kind = kinds[table]?[column] else { throw SQLRow.Mismatch(column: column) }
        return kind
    }
}

extension [Table] {
    /// The statements that create the tables.
    func definition(in dialect: SQLDialect) -> String {
        map { $0.definition(in: dialect) }.joined(separator: "\n\n")
    }
}
