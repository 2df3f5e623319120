import Ledger
import Proofs

/// The SQL of the purchase states in the histories of users, inside the caller's transaction.
struct HistoryStateRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    private static let key = ["user_id"] + Table.originalKey

    /// Reads the states of the purchases among the facts.
    func read(into facts: inout EntitlementFacts) throws {
        let owners = Set(facts.purchases.values.map(\.owner))
        let identifiers = Set(facts.purchases.keys.map { ByteKey($0.identifier) }).sorted().map(\.text)
        for row in try database.rows(
            """
            SELECT purchase_state.* FROM \(database.listed("$1"))
                JOIN purchase_state ON purchase_state.user_id = listed.value
            WHERE original_transaction_id \(database.isIn("$2"))
            """,
            [database.list(owners.sorted()), database.list(identifiers)])
        {
            let original = try original(row)
            guard facts.purchases[original]?.owner == (try row["user_id"] as Int64) else { continue }
            facts.recordedStates[original] = HistoryState(
                state: try PurchaseState(row["state"]), renews: try row["renews"], changesAt: try row["changes_at"])
        }
    }

    /// - Parameter before: The facts before the changes.
    func write(_ originals: [TransactionKey], _ facts: EntitlementFacts, before: EntitlementFacts) throws {
        let rows = originals.compactMap { original -> [any SQLConvertible]? in
            guard let owner = facts.purchases[original]?.owner, let state = facts.recordedStates[original] else {
                return nil
            }
            return [owner] + original.sqlValues(apps) + [state.state.rawValue, state.renews, state.changesAt]
        }
        let known = originals.filter { before.recordedStates[$0] != nil }
        try database.delete(
            from: "purchase_state", where: Self.key,
            known.compactMap { original in
                facts.purchases[original].map { [$0.owner] + original.sqlValues(apps) }
            })
        try database.insert(into: "purchase_state", Self.key + ["state", "renews", "changes_at"], rows)
    }

    /// The purchases of some origins whose states have changed by time alone, in the order of the changes.
    ///
    /// A purchase of another origin stays due until a process records it that accepts the origin, so that its event is not lost.
    func due(at moment: Timestamp, of origins: Set<Origin>, limit: Int) throws -> Set<TransactionKey> {
        Set(
            try database.rows(
                """
                SELECT original_transaction_id, origin, app FROM purchase_state
                WHERE changes_at <= $1 AND origin IN \(origins.sqlList) ORDER BY changes_at LIMIT $2
                """,
                [moment, limit]
            ).map(original))
    }

    private func original(_ row: SQLRow) throws -> TransactionKey {
        TransactionKey(
            app: try apps.bundleIdentifier(row), origin: try row["origin"],
            identifier: try row["original_transaction_id"])
    }
}

extension PurchaseState {
    /// - Throws: `SQLRow.Mismatch` for an unknown name.
    fileprivate init(_ name: String) throws(SQLRow.Mismatch) {
        guard let state = PurchaseState(rawValue: name) else { throw SQLRow.Mismatch(column: "state") }
        self = state
    }
}
