import Synchronization

/// The tables that the features of a ledger describe, and the known existing ones.
///
/// Another process may add a table. No process drops one.
package final class LedgerTables: Sendable {
    let schema: LedgerSchema
    private let present = Mutex<Set<String>>([])

    init(_ schema: LedgerSchema) {
        self.schema = schema
    }

    fileprivate func isPresent(_ table: String) -> Bool { present.withLock { $0.contains(table) } }

    fileprivate func add(_ tables: Set<String>) { present.withLock { $0.formUnion(tables) } }
}

extension LedgerDatabase {
    /// Returns true if the ledger has a table. The transaction must not have created the table itself.
    package func has(_ table: String) throws -> Bool {
        if tables.isPresent(table) { return true }
        let found = try presentTables()
        tables.add(found)
        return found.contains(table)
    }
}
