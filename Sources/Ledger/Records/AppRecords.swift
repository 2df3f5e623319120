import Proofs

/// The statements on the numbers of apps, inside the caller's transaction.
package struct AppRecords {
    let database: any LedgerDatabase

    /// The query of `names` and `numbers`.
    package static var known: SQLQuery { SQLQuery("SELECT app, bundle_id FROM app") }

    /// The bundle identifiers of all apps, by their numbers.
    package func names() throws -> [Int64: String] {
        try database.dictionary(Self.known.sql) { (try $0.next(), try $0.next()) }
    }

    /// The numbers of all apps. New apps among the given ones get a number.
    package func numbers(of bundleIdentifiers: Set<String>) throws -> AppNumbers {
        var apps = AppNumbers()
        try database.forEachRow(Self.known) { apps.set(try $0.next(), of: try $0.next()) }
        for bundleIdentifier in bundleIdentifiers.sorted() where apps[bundleIdentifier] == nil {
            let number = apps.last + 1
            try database.insert(into: "app", ["app", "bundle_id"], [[number, bundleIdentifier]])
            apps.set(number, of: bundleIdentifier)
        }
        return apps
    }
}

/// The numbers of bundle identifiers in the ledger.
package struct AppNumbers {
    private var numbers: [String: Int64] = [:]
    private var bundleIdentifiers: [Int64: String] = [:]

    /// The largest number; 0 if there is none.
    fileprivate var last: Int64 { bundleIdentifiers.keys.max() ?? 0 }

    fileprivate mutating func set(_ number: Int64, of bundleIdentifier: String) {
        numbers[bundleIdentifier] = number
        bundleIdentifiers[number] = bundleIdentifier
    }

    package subscript(bundleIdentifier: String) -> Int64? { numbers[bundleIdentifier] }

    /// - Throws: `ColumnMismatch` for a number that no app has.
    package func bundleIdentifier(of number: Int64) throws(ColumnMismatch) -> String {
        guard let bundleIdentifier = bundleIdentifiers[number] else { throw ColumnMismatch.column("app") }
        return bundleIdentifier
    }
}
