import Commerce
import Foundation
import Ledger

/// The SQL that reads the facts about claims, inside a transaction that the caller holds.
struct EntitlementRecords {
    let database: any LedgerDatabase
    let users: UserRecords

    /// The facts about claims.
    func facts(about claims: [Claim]) throws -> EntitlementFacts {
        var facts = EntitlementFacts()
        for (origin, claims) in Self.byOrigin(claims) {
            var originals = Set(claims.map { ByteKey($0.originalTransactionIdentifier) })
            let others = try database.rows(self.originals(of: claims, origin)).map {
                ByteKey(try $0["original_transaction_id"])
            }
            // Proofs of two forms may name different original transactions for one transaction.
            originals.formUnion(others)
            try read(originals, claims, origin, into: &facts)
        }
        try readTokenOwners(of: claims, into: &facts)
        return facts
    }

    /// Adds the origins that count for the users whom claims that the App Store states may reach, beyond those that count for
    /// everybody.
    func readOrigins(
        of claims: [Claim],
        _ accepted: AcceptedOrigins,
        into facts: inout EntitlementFacts
    ) throws {
        guard claims.contains(where: { !accepted.origins.contains($0.origin) }) else { return }
        for user in Set(facts.purchases.values.map(\.owner) + facts.tokenOwners.values) {
            facts.furtherOrigins[user] = try users.name(of: user).map(accepted.counting)
        }
    }

    /// The questions that `facts` asks, for one journey to the database.
    func questions(about claims: [Claim]) -> [SQLQuery] {
        let tokens = claims.compactMap(\.appAccountToken)
        return Self.byOrigin(claims).flatMap { origin, claims in
            let originals = Set(claims.map { ByteKey($0.originalTransactionIdentifier) })
            return [self.originals(of: claims, origin)] + questions(originals, claims, origin)
        } + (tokens.isEmpty ? [] : [tokenOwners(Set(tokens))])
    }

    /// A proof has one origin; the origins keep one order, so that the same claims ask the same questions.
    private static func byOrigin(_ claims: [Claim]) -> [(origin: Origin, claims: [Claim])] {
        Dictionary(grouping: claims, by: \.origin).map { ($0.key, $0.value) }.sorted { $0.0.rawValue < $1.0.rawValue }
    }

    private func read(
        _ originals: Set<ByteKey>,
        _ claims: [Claim],
        _ origin: Origin,
        into facts: inout EntitlementFacts
    ) throws {
        let questions = questions(originals, claims, origin)
        for row in try database.rows(questions[0]) {
            facts.set(
                try Self.purchase(row),
                for: TransactionKey(origin: origin, identifier: try row["original_transaction_id"]))
        }
        for row in try database.rows(questions[1]) {
            facts.set(
                try Self.transaction(row, origin),
                for: TransactionKey(origin: origin, identifier: try row["transaction_id"]))
        }
        for row in try database.rows(questions[2]) {
            let statement = EntitlementFacts.ParkedStatement(
                standing: try Standing(row), claim: try (row["claim"] as [UInt8]?).map(Self.claim))
            facts.setParked(statement, for: TransactionKey(origin: origin, identifier: try row["transaction_id"]))
        }
        for row in try database.rows(questions[3]) {
            facts.revokedByTeam.insert(TransactionKey(origin: origin, identifier: try row["original_transaction_id"]))
        }
    }

    /// Asks for the purchases, their transactions, what is parked, and what the team has taken back.
    private func questions(_ originals: Set<ByteKey>, _ claims: [Claim], _ origin: Origin) -> [SQLQuery] {
        let known = list(originals)
        // What was said of the original transaction counts for those that repeat it, too.
        let identifiers = list(
            Set(claims.flatMap { [ByteKey($0.transactionIdentifier), ByteKey($0.originalTransactionIdentifier)] }))
        return [
            SQLQuery(
                "SELECT * FROM original_transaction WHERE origin = $1 AND original_transaction_id \(database.isIn("$2"))",
                [origin, known]),
            SQLQuery(
                """
                SELECT redeemed.transaction_id, original_transaction_id, product_id, \(Standing.columns), grace_ends_at,
                    grace_stated_at, CASE WHEN credit.transaction_id IS NULL THEN 0 ELSE 1 END AS adds_to_balance
                FROM redeemed_transaction AS redeemed LEFT JOIN credit
                    ON credit.origin = redeemed.origin AND credit.transaction_id = redeemed.transaction_id
                WHERE redeemed.origin = $1 AND original_transaction_id \(database.isIn("$2"))
                """,
                [origin, known]),
            SQLQuery(
                """
                SELECT transaction_id, claim, \(Standing.columns)
                FROM parked_transaction \(database.indexed(by: "parked_transaction_of_original"))
                WHERE origin = $1 AND original_transaction_id \(database.isIn("$2"))
                UNION ALL
                SELECT transaction_id, claim, \(Standing.columns) FROM parked_transaction
                WHERE origin = $1 AND transaction_id \(database.isIn("$3"))
                """,
                [origin, known, identifiers]),
            SQLQuery(
                """
                SELECT original_transaction_id FROM team_revocation
                WHERE origin = $1 AND original_transaction_id \(database.isIn("$2")) AND reinstated_at IS NULL
                """,
                [origin, known]),
        ]
    }

    /// Asks for the original transactions that the transactions of claims were redeemed with.
    private func originals(of claims: [Claim], _ origin: Origin) -> SQLQuery {
        SQLQuery(
            """
            SELECT original_transaction_id FROM redeemed_transaction
            WHERE origin = $1 AND transaction_id \(database.isIn("$2"))
            """,
            [origin, list(Set(claims.map { ByteKey($0.transactionIdentifier) }))])
    }

    /// In the order of their bytes, so that the same texts ask the same question.
    private func list(_ texts: Set<ByteKey>) -> SQLValue { database.list(texts.sorted().map(\.text)) }

    private func readTokenOwners(of claims: [Claim], into facts: inout EntitlementFacts) throws {
        let presented = Set(claims.compactMap(\.appAccountToken))
        let parked = Set(facts.parked.values.compactMap(\.claim?.appAccountToken)).subtracting(presented)
        for tokens in [presented, parked] where !tokens.isEmpty {
            for row in try database.rows(tokenOwners(tokens)) {
                facts.tokenOwners[try row["app_account_token"]] = try row["user_id"] as Int64
            }
        }
    }

    private func tokenOwners(_ tokens: Set<UUID>) -> SQLQuery {
        SQLQuery(
            #"SELECT app_account_token, user_id FROM "user" WHERE app_account_token \#(database.isIn("$1"))"#,
            [list(Set(tokens.map { ByteKey($0.lowercasedString) }))])
    }

    private static func purchase(_ row: SQLRow) throws -> EntitlementFacts.Purchase {
        let namedAt: Timestamp? = try row["named_at"]
        return EntitlementFacts.Purchase(
            owner: try row["user_id"], transferredAt: try row["transferred_at"],
            naming: try namedAt.map {
                Naming(
                    purchaseDate: $0, transactionIdentifier: try row["named_by"], statedAt: try row["named_stated_at"])
            })
    }

    private static func transaction(_ row: SQLRow, _ origin: Origin) throws -> EntitlementFacts.Transaction {
        let graceStatedAt: Timestamp? = try row["grace_stated_at"]
        return EntitlementFacts.Transaction(
            originalKey: TransactionKey(origin: origin, identifier: try row["original_transaction_id"]),
            productIdentifier: try row["product_id"], addsToBalance: try row["adds_to_balance"],
            standing: try Standing(row),
            grace: try graceStatedAt.map { GracePeriod(endsAt: try row["grace_ends_at"], statedAt: $0) })
    }

    private static func claim(_ record: [UInt8]) throws -> Claim {
        try JSONDecoder().decode(Claim.self, from: Data(record))
    }
}

extension Standing {
    fileprivate static let columns = "revocation_date, revocation_reason, expires_at, stated_at"

    fileprivate init(_ row: SQLRow) throws {
        self.init(
            revocationDate: try row["revocation_date"], revocationReason: try row["revocation_reason"],
            expiresAt: try row["expires_at"], statedAt: try row["stated_at"])
    }
}
