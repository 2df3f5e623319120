import Synchronization

/// The tables that the features of a ledger describe, and those that the ledger is known to have.
///
/// A table is never dropped: another process can add one, but none goes.
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
    /// Checks if the ledger has a table, which the transaction must not have made itself.
    package func has(_ table: String) throws -> Bool {
        if tables.isPresent(table) { return true }
        let found = try presentTables()
        tables.add(found)
        return found.contains(table)
    }
}
