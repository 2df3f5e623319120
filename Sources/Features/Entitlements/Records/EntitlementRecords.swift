import Foundation
import Ledger
import Proofs

/// The SQL that reads the facts about claims, inside the caller's transaction.
struct EntitlementRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    /// The facts about claims.
    func facts(about claims: [Claim]) throws -> EntitlementFacts {
        var facts = EntitlementFacts()
        let named = Set(claims.map(\.originalKey))
        // Proofs of two formats may name different original transactions for one transaction.
        let others = try originalsOfClaimed(Set(claims.map(\.key))).subtracting(named)
        try readPurchases(Self.originals(of: claims, in: database), among: named, into: &facts)
        try readPurchases(originals(others), among: others, into: &facts)
        try readTransactions(into: &facts)
        try readParked(claims, into: &facts)
        try readTokenOwners(of: claims, into: &facts)
        try StatedFactRecords(database: database, apps: apps).read(claims, into: &facts)
        return facts
    }

    /// The facts about purchases and their renewal, without the parked statements.
    func facts(ofPurchases originals: Set<TransactionKey>) throws -> EntitlementFacts {
        var facts = EntitlementFacts()
        try readPurchases(self.originals(originals), among: originals, into: &facts)
        try readTransactions(into: &facts)
        guard !facts.purchases.isEmpty else { return facts }
        try StatedFactRecords(database: database, apps: apps).readRenewals(into: &facts)
        try HistoryStateRecords(database: database, apps: apps).read(into: &facts)
        return facts
    }

    /// The facts about the owners and the expected owners of purchases, without their transactions.
    func facts(aboutOwnersOf originals: Set<TransactionKey>) throws -> EntitlementFacts {
        var facts = EntitlementFacts()
        try readPurchases(self.originals(originals), among: originals, into: &facts)
        return facts
    }

    /// The original transactions of all purchases of a user.
    func originals(of user: Int64) throws -> Set<TransactionKey> {
        let rows = try database.rows(
            """
            SELECT DISTINCT original_transaction_id, origin, app FROM redeemed_transaction WHERE user_id = $1
            """,
            [user])
        return Set(try rows.map { try apps.key($0) })
    }

    /// The original transaction of a redeemed transaction.
    ///
    /// - Throws: `SQLRow.Mismatch` if the user has no transaction of that number.
    func original(ofTransaction sequence: Int64, of user: Int64) throws -> TransactionKey {
        let row = try database.row(
            """
            SELECT original_transaction_id, origin, app FROM redeemed_transaction
            WHERE user_id = $1 AND sequence = $2
            """,
            [user, sequence])
        guard let row else { throw SQLRow.Mismatch(column: "sequence") }
        return try apps.key(row)
    }

    /// The first queries of `facts`, to send in one round trip.
    static func queries(about claims: [Claim], in database: any LedgerDatabase) -> [SQLQuery] {
        guard !claims.isEmpty else { return [] }
        let tokens = Set(claims.compactMap(\.appAccountToken))
        return [
            claimed(Set(claims.map(\.key)), in: database), originals(of: claims, in: database),
            parked(claims, in: database),
        ] + (tokens.isEmpty ? [] : [tokenOwners(tokens, in: database)])
    }

    // MARK: Claims and purchases

    private static func claimed(_ keys: Set<TransactionKey>, in database: any LedgerDatabase) -> SQLQuery {
        SQLQuery(
            "SELECT * FROM claim WHERE transaction_id \(database.isIn("$1"))", [database.list(keys)])
    }

    /// The original transactions under which the redeemed ones among transactions were redeemed.
    private func originalsOfClaimed(_ keys: Set<TransactionKey>) throws -> Set<TransactionKey> {
        guard !keys.isEmpty else { return [] }
        var originals: Set<TransactionKey> = []
        for row in try database.rows(Self.claimed(keys, in: database))
        where keys.contains(try apps.key(row, "transaction_id")) {
            originals.insert(try apps.key(row))
        }
        return originals
    }

    private static func originals(of claims: [Claim], in database: any LedgerDatabase) -> SQLQuery {
        originals(database.list(claims.map(\.originalKey)), in: database)
    }

    private func originals(_ keys: Set<TransactionKey>) -> SQLQuery {
        Self.originals(database.list(keys), in: database)
    }

    private static func originals(_ identifiers: SQLValue, in database: any LedgerDatabase) -> SQLQuery {
        // One statement for both, because each statement of a commit costs every purchase.
        SQLQuery(
            """
            SELECT original_transaction_id, origin, app, user_id, transferred_at, named_at, named_by, named_stated_at,
                0 AS is_expected
            FROM original WHERE original_transaction_id \(database.isIn("$1"))
            UNION ALL
            SELECT original_transaction_id, origin, app, user_id, NULL, NULL, NULL, NULL, 1
            FROM expected_transaction WHERE original_transaction_id \(database.isIn("$1"))
            """,
            [identifiers])
    }

    private func readPurchases(
        _ query: SQLQuery,
        among keys: Set<TransactionKey>,
        into facts: inout EntitlementFacts
    ) throws {
        guard !keys.isEmpty else { return }
        for row in try database.rows(query) {
            let key = try apps.key(row)
            guard keys.contains(key) else { continue }
            if try row["is_expected"] {
                facts.setExpected(try row["user_id"], for: key)
            } else {
                facts.set(try Self.purchase(row), for: key)
            }
        }
    }

    // MARK: Transactions of owners

    /// Qualified by the table, because SQLite's list tables also have a column `type`.
    private static let terms = PurchasePeriod.Terms.facts.map { "redeemed." + $0.field.column }.joined(separator: ", ")

    /// Reads the transactions of the purchases among the facts, and the team's revocations.
    private func readTransactions(into facts: inout EntitlementFacts) throws {
        guard !facts.purchases.isEmpty else { return }
        let arguments: [any SQLConvertible] = [
            database.list(Set(facts.purchases.values.map(\.owner)).sorted()),
            database.list(facts.purchases.keys),
        ]
        for row in try database.rows(
            """
            SELECT redeemed.user_id, redeemed.sequence, original_transaction_id, transaction_id, redeemed.origin, app,
                product_id, purchase_date, \(TransactionStatus.columns.joined(separator: ", ")), grace_ends_at, grace_stated_at, \(Self.terms),
                web_order_line_item_id, event_statements,
                CASE WHEN credit.user_id IS NULL THEN 0 ELSE 1 END AS adds_to_balance
            FROM \(database.listed("$1")) JOIN redeemed_transaction AS redeemed ON redeemed.user_id = listed.value
                LEFT JOIN credit ON credit.user_id = redeemed.user_id AND credit.sequence = redeemed.sequence
            WHERE original_transaction_id \(database.isIn("$2"))
            ORDER BY redeemed.user_id, redeemed.sequence
            """,
            arguments)
        {
            let original = try apps.key(row)
            guard facts.purchases[original]?.owner == (try row["user_id"] as Int64) else { continue }
            facts.set(try Self.transaction(row, of: original), for: try apps.key(row, "transaction_id"))
        }
        for row in try database.rows(
            """
            SELECT user_id, original_transaction_id, origin, app
            FROM \(database.listed("$1")) JOIN team_revocation ON user_id = listed.value
            WHERE original_transaction_id \(database.isIn("$2")) AND reinstated_at IS NULL
            """,
            arguments)
        {
            let original = try apps.key(row)
            guard facts.purchases[original]?.owner == (try row["user_id"] as Int64) else { continue }
            facts.revokedByTeam.insert(original)
        }
    }

    // MARK: Parked statements and account tokens

    private static func parked(_ claims: [Claim], in database: any LedgerDatabase) -> SQLQuery {
        let originals = Set(claims.map(\.originalKey))
        return SQLQuery(
            """
            SELECT * FROM parked_transaction \(database.indexed(by: "parked_transaction_of_original"))
            WHERE original_transaction_id \(database.isIn("$1"))
            UNION ALL
            SELECT * FROM parked_transaction WHERE transaction_id \(database.isIn("$2"))
            """,
            [
                database.list(originals),
                // A statement about the original transaction also covers the transactions that repeat it.
                database.list(originals.union(claims.map(\.key))),
            ])
    }

    private func readParked(_ claims: [Claim], into facts: inout EntitlementFacts) throws {
        guard !claims.isEmpty else { return }
        for row in try database.rows(Self.parked(claims, in: database)) {
            let statement = EntitlementFacts.ParkedStatement(
                status: try TransactionStatus(row), claim: try Claim(parked: row, apps))
            facts.setParked(statement, for: try apps.key(row, "transaction_id"))
        }
    }

    private func readTokenOwners(of claims: [Claim], into facts: inout EntitlementFacts) throws {
        let presented = Set(claims.compactMap(\.appAccountToken))
        let parked = Set(facts.parked.values.compactMap(\.claim.appAccountToken)).subtracting(presented)
        for tokens in [presented, parked] where !tokens.isEmpty {
            for row in try database.rows(Self.tokenOwners(tokens, in: database)) {
                facts.tokenOwners[try row["app_account_token"]] = try row["user_id"] as Int64
            }
        }
    }

    private static func tokenOwners(_ tokens: Set<UUID>, in database: any LedgerDatabase) -> SQLQuery {
        SQLQuery(
            "SELECT * FROM account_token WHERE app_account_token \(database.isIn("$1"))",
            [database.list(eachOf: tokens.map(\.lowercasedString))])
    }

    // MARK: Rows

    private static func purchase(_ row: SQLRow) throws -> EntitlementFacts.Purchase {
        let namedAt: Timestamp? = try row["named_at"]
        return EntitlementFacts.Purchase(
            owner: try row["user_id"], transferredAt: try row["transferred_at"],
            naming: try namedAt.map {
                Naming(
                    purchaseDate: $0, transactionIdentifier: try row["named_by"], statedAt: try row["named_stated_at"])
            })
    }

    private static func transaction(
        _ row: SQLRow,
        of original: TransactionKey
    ) throws -> EntitlementFacts.Transaction {
        let graceStatedAt: Timestamp? = try row["grace_stated_at"]
        return EntitlementFacts.Transaction(
            originalKey: original, sequence: try row["sequence"], productIdentifier: try row["product_id"],
            purchaseDate: try row["purchase_date"], addsToBalance: try row["adds_to_balance"],
            status: try TransactionStatus(row),
            statements: try (row["event_statements"] as [UInt8]?).map {
                try JSONDecoder().decode(EventStatements.self, from: Data($0))
            },
            grace: try graceStatedAt.map { GracePeriod(endsAt: try row["grace_ends_at"], statedAt: $0) },
            terms: PurchasePeriod.Terms(TransactionFacts(row, PurchasePeriod.Terms.facts)),
            recordedEvent: try row["web_order_line_item_id"])
    }
}
