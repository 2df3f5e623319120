import Ledger
import Proofs

/// The SQL that reads stated facts that no decision depends on, inside the caller's transaction.
struct StatedFactRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    /// Reads the known facts of claimed transactions that were already redeemed, and of their subscriptions if a claim states a
    /// renewal.
    ///
    /// - Parameter facts: The other facts about the claims.
    func read(_ claims: [Claim], into facts: inout EntitlementFacts) throws {
        let stated = claims + facts.parked.values.map(\.claim)
        let keys = Set(stated.filter { $0.facts != nil }.map { facts.standing(for: $0).key } + facts.parked.keys).filter
        {
            facts.transactions[$0] != nil
        }
        if !keys.isEmpty { try readTransactions(keys, into: &facts) }
        guard !facts.purchases.isEmpty else { return }
        let hasEnd = facts.transactions.values.contains { $0.status.expiresAt != nil }
        if hasEnd || stated.contains(where: { $0.renewal != nil || $0.expiresAt != nil }) {
            try readRenewals(into: &facts)
            try HistoryStateRecords(database: database, apps: apps).read(into: &facts)
        }
    }

    private func readTransactions(_ keys: Set<TransactionKey>, into facts: inout EntitlementFacts) throws {
        let originals = Set(keys.compactMap { facts.transactions[$0]?.originalKey })
        let rows = try database.rows(
            """
            SELECT redeemed.* FROM \(database.listed("$1"))
                JOIN redeemed_transaction AS redeemed ON redeemed.user_id = listed.value
            WHERE original_transaction_id \(database.isIn("$2")) AND transaction_id \(database.isIn("$3"))
            """,
            [owners(of: originals, facts), list(originals), list(keys)])
        for row in rows {
            let key = try key(row, "transaction_id")
            if keys.contains(key) { facts.set(TransactionFacts(row), for: key) }
        }
    }

    func readRenewals(into facts: inout EntitlementFacts) throws {
        let originals = Set(facts.purchases.keys)
        let rows = try database.rows(
            """
            SELECT subscription.* FROM \(database.listed("$1"))
                JOIN subscription ON subscription.user_id = listed.value
            WHERE original_transaction_id \(database.isIn("$2"))
            """,
            [owners(of: originals, facts), list(originals)])
        for row in rows {
            let original = try key(row, "original_transaction_id")
            guard facts.purchases[original]?.owner == (try row["user_id"] as Int64) else { continue }
            let renewal = StatedRenewal(
                statedAt: try row["stated_at"], proofDigest: try row["proof_digest"], facts: RenewalFacts(row))
            facts.set(renewal, for: original)
        }
    }

    private func owners(of originals: Set<TransactionKey>, _ facts: EntitlementFacts) -> SQLValue {
        database.list(Set(originals.compactMap { facts.purchases[$0]?.owner }).sorted())
    }

    private func list(_ keys: Set<TransactionKey>) -> SQLValue {
        database.list(Set(keys.map { ByteKey($0.identifier) }).sorted().map(\.text))
    }

    private func key(_ row: SQLRow, _ column: String) throws -> TransactionKey {
        TransactionKey(
            app: try apps.bundleIdentifier(row), origin: try row["origin"], identifier: try row[column])
    }
}
