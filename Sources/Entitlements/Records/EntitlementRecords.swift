import Foundation
import Ledger
import Proofs

/// The SQL that reads the facts about claims, inside the caller's transaction.
struct EntitlementRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    func facts(about claims: [Claim]) throws -> EntitlementFacts {
        var facts = EntitlementFacts()
        let named = Set(claims.map(\.originalKey) + claims.compactMap(\.chain))
        // Proofs of two formats may name different original transactions for one transaction.
        let others = try originalsOfClaimed(Set(claims.map(\.key))).subtracting(named)
        let parked = try readPurchases(originals(named), among: named, into: &facts)
        let moved = try readPurchases(originals(others), among: others, into: &facts)
        try readTransactions(into: &facts)
        try readParked(claims, parked, into: &facts)
        try readMoved(parked.union(moved), besides: named.union(others), withParked: true, into: &facts)
        try readTokenOwners(of: claims, into: &facts)
        try readStated(claims, into: &facts)
        return facts
    }

    /// The facts about purchases and their renewal, without the parked statements.
    func facts(ofPurchases originals: Set<TransactionKey>) throws -> EntitlementFacts {
        var facts = EntitlementFacts()
        let moved = try readPurchases(self.originals(originals), among: originals, into: &facts)
        try readTransactions(into: &facts)
        try readMoved(moved, besides: originals, withParked: false, into: &facts)
        try readRenewals(into: &facts)
        try readStates(into: &facts)
        return facts
    }

    /// The facts about the owners and the expected owners of purchases, without their transactions.
    func facts(aboutOwnersOf originals: Set<TransactionKey>) throws -> EntitlementFacts {
        var facts = EntitlementFacts()
        try readPurchases(self.originals(originals), among: originals, into: &facts)
        return facts
    }

    func originals(of user: Int64) throws -> Set<TransactionKey> {
        Set(
            try database.rows(
                """
                SELECT DISTINCT original_transaction_id, origin, app FROM redeemed_transaction WHERE user_id = $1
                """,
                [user], apps.key))
    }

    /// The original transaction of a redeemed transaction.
    ///
    /// - Throws: `ColumnMismatch` if the user has no transaction of that number.
    func original(ofTransaction sequence: Int64, of user: Int64) throws -> TransactionKey {
        let original = try database.row(
            """
            SELECT original_transaction_id, origin, app FROM redeemed_transaction
            WHERE user_id = $1 AND sequence = $2
            """,
            [user, sequence], apps.key)
        guard let original else { throw ColumnMismatch.column("sequence") }
        return original
    }

    /// The first queries of `facts`, to send in one round trip.
    static func queries(about claims: [Claim], in database: any LedgerDatabase) -> [SQLQuery] {
        guard !claims.isEmpty else { return [] }
        let tokens = Set(claims.compactMap(\.appAccountToken))
        return [
            claimed(Set(claims.map(\.key)), in: database), originals(of: claims, in: database),
            parked(named(by: claims), in: database),
        ] + (tokens.isEmpty ? [] : [tokenOwners(tokens, in: database)])
    }

    // MARK: Claims and purchases

    private static func claimed(_ keys: Set<TransactionKey>, in database: any LedgerDatabase) -> SQLQuery {
        SQLQuery(
            """
            SELECT transaction_id, origin, app, coalesce(original_transaction_id, transaction_id) FROM claim
            WHERE transaction_id \(database.isIn(packed: "$1")) AND user_id IS NOT NULL
            """,
            [database.list(keys)])
    }

    /// The original transactions under which the redeemed ones among transactions were redeemed.
    private func originalsOfClaimed(_ keys: Set<TransactionKey>) throws -> Set<TransactionKey> {
        guard !keys.isEmpty else { return [] }
        var originals: Set<TransactionKey> = []
        try database.forEachRow(Self.claimed(keys, in: database)) { row in
            let (key, original): (TransactionKey, String) = (try apps.key(&row), try row.next())
            guard keys.contains(key) else { return }
            originals.insert(TransactionKey(app: key.app, origin: key.origin, identifier: original))
        }
        return originals
    }

    private static func originals(of claims: [Claim], in database: any LedgerDatabase) -> SQLQuery {
        originals(database.list(claims.map(\.originalKey) + claims.compactMap(\.chain)), in: database)
    }

    private func originals(_ keys: Set<TransactionKey>) -> SQLQuery {
        Self.originals(database.list(keys), in: database)
    }

    private static func originals(_ identifiers: SQLValue, in database: any LedgerDatabase) -> SQLQuery {
        // One statement for all, because each statement of a commit costs every purchase. PostgreSQL takes the type of a column from
        // the first two parts.
        SQLQuery(
            """
            SELECT transaction_id, origin, app, NULL, owner_id, 0, transferred_at, naming FROM claim
            WHERE transaction_id \(database.isIn(packed: "$1")) AND owner_id IS NOT NULL
            UNION ALL
            SELECT original_transaction_id, origin, app, transaction_id, NULL, NULL, NULL, NULL
            FROM parked_original WHERE original_transaction_id \(database.isIn(packed: "$1"))
            UNION ALL
            SELECT original_transaction_id, origin, app, NULL, user_id, 1, NULL, NULL
            FROM expected_transaction WHERE original_transaction_id \(database.isIn(packed: "$1"))
            """,
            [identifiers])
    }

    /// Reads the other parts of subscriptions that have moved.
    ///
    /// - Parameters:
    ///   - leads: The transactions to which known purchases lead: parked ones, and those that state a move from a known purchase.
    ///   - known: The purchases that were read already.
    private func readMoved(
        _ leads: Set<TransactionKey>, besides known: Set<TransactionKey>, withParked: Bool,
        into facts: inout EntitlementFacts
    ) throws {
        var (known, leads) = (known, leads)
        // Each round reads the next parts. Most claims are about no moved subscription, and send no query.
        while true {
            let redeemed = try originalsOfClaimed(leads.subtracting(facts.parked.keys))
            let new = facts.movedOriginals.union(redeemed).subtracting(known)
            guard !new.isEmpty else { return }
            known.formUnion(new)
            leads = try readPurchases(originals(new), among: new, into: &facts)
            try readTransactions(into: &facts)
            if withParked { try readParked(new.union(leads), into: &facts) }
        }
    }

    /// Reads the owners and the expected owners of purchases.
    ///
    /// - Returns: The transactions to which the purchases lead: parked ones whose identifiers differ from those of their purchases, and
    ///   those that state a move from one of the purchases.
    @discardableResult private func readPurchases(
        _ query: SQLQuery,
        among keys: Set<TransactionKey>,
        into facts: inout EntitlementFacts
    ) throws -> Set<TransactionKey> {
        guard !keys.isEmpty else { return [] }
        var parked: Set<TransactionKey> = []
        try database.forEachRow(query) { row in
            let key = try apps.key(&row)
            guard keys.contains(key) else { return }
            if let transaction: String = try row.next() {
                parked.insert(TransactionKey(app: key.app, origin: key.origin, identifier: transaction))
                return
            }
            let (owner, isExpected): (Int64, Bool) = (try row.next(), try row.next())
            if isExpected {
                facts.expectedOwners[key] = owner
            } else {
                facts.set(
                    EntitlementFacts.Purchase(
                        owner: owner, transferredAt: try row.next(), naming: try row.next()),
                    for: key)
            }
        }
        return parked
    }

    // MARK: Transactions of owners

    private static let terms = PurchasePeriod.Terms.facts.map(\.field.column).joined(separator: ", ")

    /// Reads rows of the purchases among the facts. The rows of former owners are left out.
    ///
    /// - Parameters:
    ///   - index: The index that SQLite would not choose without statistics; nil for the key of the table.
    ///   - sql: Returns the query for the rows. Its first columns are the owner and the key of the purchase.
    ///   - read: Reads the next columns.
    private func readPurchaseRows(
        of table: String, by index: String? = nil, into facts: inout EntitlementFacts, _ sql: (KeyedRows) -> String,
        reading read: (inout ResultRow, TransactionKey, inout EntitlementFacts) throws -> Void
    ) throws {
        guard !facts.purchases.isEmpty else { return }
        let rows = database.keyedRows(
            of: table, where: ["user_id", "original_transaction_id"],
            SQLKeys(packed: facts.purchases.map { ($1.owner, [$0.identifier]) }), by: index)
        try database.forEachRow(sql(rows), rows.arguments) { row in
            let (owner, original): (Int64, TransactionKey) = (try row.next(), try apps.key(&row))
            if facts.purchases[original]?.owner == owner { try read(&row, original, &facts) }
        }
    }

    /// The index of the transactions of a purchase. Without statistics, SQLite would read all rows of the owner: 20 ms for a user with
    /// 50,000 purchases, 0.01 ms by the index.
    private static let indexOfPurchase = "redeemed_transaction_of_purchase"

    /// Reads the transactions of the purchases among the facts, and the team's revocations.
    private func readTransactions(into facts: inout EntitlementFacts) throws {
        try readPurchaseRows(of: "redeemed_transaction", by: Self.indexOfPurchase, into: &facts) { rows in
            """
            SELECT redeemed_transaction.user_id, original_transaction_id, redeemed_transaction.origin, app, transaction_id,
                redeemed_transaction.sequence,
                \(ProductRecords.identifier(in: "redeemed_transaction")), base_plan_id, purchase_date,
                CASE WHEN credit.user_id IS NULL THEN 0 ELSE 1 END,
                \(TransactionStatus.columns.joined(separator: ", ")), event_statements, grace_ends_at, grace_stated_at,
                grace_statement_number, \(Self.terms), web_order_line_item_id, fixed_period
            FROM \(rows.source) LEFT JOIN credit
                ON credit.user_id = redeemed_transaction.user_id AND credit.sequence = redeemed_transaction.sequence
            WHERE \(rows.condition) ORDER BY redeemed_transaction.user_id, redeemed_transaction.sequence
            """
        } reading: { row, original, facts in
            let key = TransactionKey(app: original.app, origin: original.origin, identifier: try row.next())
            facts.set(try Self.transaction(&row, of: original), for: key)
        }
        try readPurchaseRows(of: "team_revocation", into: &facts) { rows in
            """
            SELECT user_id, original_transaction_id, origin, app FROM \(rows.source)
            WHERE \(rows.condition) AND reinstated_at IS NULL
            """
        } reading: { _, original, facts in
            facts.revokedByTeam.insert(original)
        }
    }

    // MARK: Parked statements and account tokens

    private static let parkedColumns = (["transaction_id", "origin", "app"] + TransactionStatus.columns + ["claim"])
        .joined(separator: ", ")

    private static func named(by claims: [Claim]) -> Set<TransactionKey> {
        // A statement about the original transaction also covers the transactions that repeat it.
        var named: Set<TransactionKey> = []
        for claim in claims {
            named.insert(claim.originalKey)
            named.insert(claim.key)
            if let previous = claim.previous { named.insert(previous) }
        }
        return named
    }

    private static func parked(_ keys: Set<TransactionKey>, in database: any LedgerDatabase) -> SQLQuery {
        SQLQuery(
            "SELECT \(parkedColumns) FROM parked_transaction WHERE transaction_id \(database.isIn(packed: "$1"))",
            [database.list(keys)])
    }

    /// Reads the parked statements about the transactions that claims name, and about other transactions of their purchases.
    private func readParked(
        _ claims: [Claim], _ others: Set<TransactionKey>, into facts: inout EntitlementFacts
    ) throws {
        let named = Self.named(by: claims)
        for keys in [named, others.subtracting(named)] where !keys.isEmpty { try readParked(keys, into: &facts) }
    }

    private func readParked(_ keys: Set<TransactionKey>, into facts: inout EntitlementFacts) throws {
        try database.forEachRow(Self.parked(keys, in: database)) { row in
            let key = try apps.key(&row)
            let statement = EntitlementFacts.ParkedStatement(
                status: try TransactionStatus(&row), claim: try Claim(parked: try row.next(), of: key.app))
            facts.setParked(statement, for: key)
        }
    }

    private func readTokenOwners(of claims: [Claim], into facts: inout EntitlementFacts) throws {
        let presented = Set(claims.compactMap(\.appAccountToken))
        let parked = Set(facts.parked.values.compactMap(\.claim.appAccountToken)).subtracting(presented)
        for tokens in [presented, parked] where !tokens.isEmpty {
            try database.forEachRow(Self.tokenOwners(tokens, in: database)) { row in
                let (token, owner): (UUID, Int64) = (try row.next(), try row.next())
                facts.tokenOwners[token] = owner
            }
        }
    }

    private static func tokenOwners(_ tokens: Set<UUID>, in database: any LedgerDatabase) -> SQLQuery {
        SQLQuery(
            "SELECT app_account_token, user_id FROM account_token WHERE app_account_token \(database.isIn(packed: "$1"))",
            [database.list(eachPacked: tokens.map(\.lowercasedString))])
    }

    // MARK: Stated facts, renewals and recorded states

    /// Reads the known facts of claimed transactions that were already redeemed, and of their subscriptions if a claim states a
    /// renewal.
    private func readStated(_ claims: [Claim], into facts: inout EntitlementFacts) throws {
        let stated = claims + facts.parked.values.map(\.claim)
        let keys = Set(stated.filter { $0.facts != nil }.map { facts.standing(for: $0).key } + facts.parked.keys).filter
        {
            facts.transactions[$0] != nil
        }
        if !keys.isEmpty { try readFacts(of: keys, into: &facts) }
        guard !facts.purchases.isEmpty else { return }
        let hasEnd = facts.transactions.values.contains { $0.status.expiresAt != nil }
        if hasEnd || stated.contains(where: { $0.renewal != nil || $0.expiresAt != nil }) {
            try readRenewals(into: &facts)
            try readStates(into: &facts)
        }
    }

    private static let factColumns = TransactionFacts.columnNames.joined(separator: ", ")

    private func readFacts(of keys: Set<TransactionKey>, into facts: inout EntitlementFacts) throws {
        let purchases = keys.compactMap { facts.transactions[$0]?.originalKey }.compactMap { original in
            facts.purchases[original].map { ($0.owner, [original.identifier]) }
        }
        guard !purchases.isEmpty else { return }
        let rows = database.keyedRows(
            of: "redeemed_transaction", where: ["user_id", "original_transaction_id"], SQLKeys(packed: purchases),
            by: Self.indexOfPurchase)
        try database.forEachRow(
            """
            SELECT transaction_id, origin, app, \(Self.factColumns) FROM \(rows.source)
            WHERE \(rows.condition) AND transaction_id \(database.isIn(packed: rows.nextParameter))
            """,
            rows.arguments + [database.list(keys)]
        ) { row in
            let key = try apps.key(&row)
            if keys.contains(key) { facts.set(try TransactionFacts(&row), for: key) }
        }
    }

    private func readRenewals(into facts: inout EntitlementFacts) throws {
        try readPurchaseRows(of: "subscription", into: &facts) { rows in
            "SELECT user_id, \(SubscribedPurchase.columns) FROM \(rows.source) WHERE \(rows.condition)"
        } reading: { row, original, facts in
            facts.set(try StatedRenewal(&row), for: original)
        }
    }

    /// Reads the states of the purchases in the histories of their owners.
    private func readStates(into facts: inout EntitlementFacts) throws {
        try readPurchaseRows(of: "purchase_state", into: &facts) { rows in
            """
            SELECT user_id, original_transaction_id, origin, app, state, renews, changes_at, end_notice
            FROM \(rows.source) WHERE \(rows.condition)
            """
        } reading: { row, original, facts in
            facts.recordedStates[original] = HistoryState(
                state: try row.next(), renews: try row.next(), changesAt: try row.next(), endNotice: try row.next())
        }
    }

    // MARK: Rows

    /// The naming in the next columns: its purchase date, its transaction and the date of the statement.
    /// The transaction in the next columns, without its keys.
    private static func transaction(
        _ row: inout ResultRow,
        of original: TransactionKey
    ) throws -> EntitlementFacts.Transaction {
        var transaction = EntitlementFacts.Transaction(
            originalKey: original, sequence: try row.next(), productIdentifier: try row.next(),
            recordedPlan: try row.next(), purchaseDate: try row.next(), addsToBalance: try row.next(),
            status: try TransactionStatus(&row),
            statements: try (row.next() as [UInt8]?).map {
                try JSONDecoder().decode(EventStatements.self, from: Data($0))
            },
            grace: try grace(&row),
            terms: PurchasePeriod.Terms(try TransactionFacts(&row, PurchasePeriod.Terms.facts)),
            recordedEvent: try row.next())
        guard let text: String = try row.next() else { return transaction }
        guard let period = SubscriptionPeriod.ofUnits(text) else { throw ColumnMismatch.column("fixed_period") }
        let fixed = FixedPeriod(period, of: nil)
        (transaction.fixed, transaction.extendedUntil) = (fixed, transaction.status.expiresAt)
        transaction.status.expiresAt = fixed.end(from: transaction.purchaseDate)
        return transaction
    }

    /// The grace period in the next columns: its end, and the date and the number of the statement.
    private static func grace(_ row: inout ResultRow) throws -> GracePeriod? {
        let (endsAt, statedAt): (Timestamp?, Timestamp?) = (try row.next(), try row.next())
        let number: Int64? = try row.next()
        return statedAt.map { GracePeriod(endsAt: endsAt, order: StatementOrder(number: number ?? 0, date: $0)) }
    }
}

extension Claim {
    /// - Parameters:
    ///   - json: The claim in a row of `parked_transaction`.
    ///   - app: The bundle identifier of the app.
    init(parked json: [UInt8], of app: String) throws {
        self = try JSONDecoder().decode(Claim.self, from: Data(json))
        self.app = app
    }
}
