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

    private static let factColumns = TransactionFacts.columnNames.joined(separator: ", ")

    private func readTransactions(_ keys: Set<TransactionKey>, into facts: inout EntitlementFacts) throws {
        let originals = Set(keys.compactMap { facts.transactions[$0]?.originalKey })
        try database.forEachRow(
            """
            SELECT transaction_id, origin, app, \(Self.factColumns) FROM redeemed_transaction
            WHERE user_id \(database.isIn(numbers: "$1")) AND original_transaction_id \(database.isIn("$2"))
                AND transaction_id \(database.isIn("$3"))
            """,
            [owners(of: originals, facts), database.list(originals), database.list(keys)]
        ) { row in
            let key = try apps.key(&row)
            if keys.contains(key) { facts.set(try TransactionFacts(&row), for: key) }
        }
    }

    func readRenewals(into facts: inout EntitlementFacts) throws {
        let originals = Set(facts.purchases.keys)
        try database.forEachRow(
            """
            SELECT user_id, \(SubscribedPurchase.columns) FROM subscription
            WHERE user_id \(database.isIn(numbers: "$1")) AND original_transaction_id \(database.isIn("$2"))
            """,
            [owners(of: originals, facts), database.list(originals)]
        ) { row in
            let (owner, original): (Int64, TransactionKey) = (try row.next(), try apps.key(&row))
            guard facts.purchases[original]?.owner == owner else { return }
            facts.set(try StatedRenewal(&row), for: original)
        }
    }

    private func owners(of originals: Set<TransactionKey>, _ facts: EntitlementFacts) -> SQLValue {
        database.list(Set(originals.compactMap { facts.purchases[$0]?.owner }).sorted())
    }
}

/// The columns of stated facts, one for each. A column is null if the App Store has not stated the fact.
extension StatedFacts {
    static var columns: [Table.Column] {
        Fact.allCases.map { fact in
            let field = fact.field
            return switch field.kind {
            case .text, .token, .texts, .object: .text(field.column).optional
            case .integer, .bool, .date: .integer(field.column).optional
            }
        }
    }

    static var columnNames: [String] { Fact.allCases.map { $0.field.column } }

    /// The values of the columns, in their order.
    var sqlValues: [any SQLConvertible] {
        Fact.allCases.map { fact in
            switch self[fact] {
            case .integer(let number): SQLValue.integer(number)
            case .text(let text): SQLValue.text(text)
            case nil: SQLValue.null
            }
        }
    }
}

extension StatedFacts where Fact.AllCases == [Fact] {
    /// The facts in the next columns of a row, one for each.
    init(_ row: inout ResultRow, _ facts: [Fact] = Fact.allCases) throws(ColumnMismatch) {
        self.init()
        for fact in facts {
            switch try row.nextValue() {
            case .integer(let number): self[fact] = .integer(number)
            case .text(let text): self[fact] = .text(text)
            case .null, .blob: break
            }
        }
    }
}
