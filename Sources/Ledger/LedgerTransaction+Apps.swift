import Proofs

extension LedgerTransaction {
    /// Assigns a number to an app, unless it has one.
    package func register(app bundleIdentifier: String) throws {
        _ = try AppRecords(database: database).numbers(of: [bundleIdentifier])
    }

    /// The apps whose rows a query returns.
    package struct RequestedApp {
        /// Nil for all apps.
        package let number: Int64?
    }

    /// The number of an app.
    ///
    /// - Parameter bundleIdentifier: Nil for all apps.
    /// - Returns: Nil for an app that the ledger does not know.
    package func number(ofApp bundleIdentifier: String?) throws -> RequestedApp? {
        guard let bundleIdentifier else { return RequestedApp(number: nil) }
        return try AppRecords(database: database).names()
            .first { $0.value.hasSameBytes(as: bundleIdentifier) }.map { RequestedApp(number: $0.key) }
    }
}
