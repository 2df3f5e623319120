import Commerce

/// The ledger's statements that tell what users own and have redeemed, inside a transaction that the caller holds.
package struct ReadingRecords {
    let database: any LedgerDatabase

    package init(database: any LedgerDatabase) {
        self.database = database
    }

    /// The items that a user owns at a moment by purchases of some origins and by grants, each once, in order.
    package func items(of user: Int64, counting origins: Set<Origin>, at moment: Timestamp) throws -> [Item] {
        let rows = try rows(
            Statement(
                columns: "collection, number", grantColumns: "collection, number",
                purchased: """
                    entitlement JOIN redeemed_transaction USING (origin, transaction_id)
                    WHERE entitlement.user_id = $1 AND entitlement.origin IN \(origins.sqlList)
                    """,
                given: "team_grant WHERE user_id = $1"),
            of: user, at: moment)
        return Set(try rows.map(Self.item)).sorted()
    }

    /// The same for several users, each with the origins that count for the user.
    package func items(of users: [Int64: Set<Origin>], at moment: Timestamp) throws -> [Int64: [Item]] {
        guard !users.isEmpty else { return [:] }
        let rows = try rows(
            Statement(
                columns: "collection, number, entitlement.user_id, entitlement.origin",
                grantColumns: "collection, number, user_id, NULL",
                purchased: """
                    \(database.listed("$1")) JOIN entitlement ON entitlement.user_id = listed.value
                    JOIN redeemed_transaction USING (origin, transaction_id) WHERE true
                    """,
                given: "\(database.listed("$1")) JOIN team_grant ON user_id = listed.value WHERE true"),
            of: database.list(users.keys.sorted()), at: moment)
        var items: [Int64: Set<Item>] = [:]
        for row in rows {
            let (user, origin): (Int64, Origin?) = (try row["user_id"], try row["origin"])
            guard origin.map({ users[user]?.contains($0) ?? false }) ?? true else { continue }
            items[user, default: []].insert(try Self.item(row))
        }
        return items.mapValues { $0.sorted() }
    }

    private static func item(_ row: SQLRow) throws -> Item {
        Item(collection: try row["collection"], number: try row["number"])
    }

    /// The parts in which the statement for one user differs from that for several.
    private struct Statement {
        let columns: String
        let grantColumns: String
        /// The tables of the purchases, and the condition on their users, `$1`.
        let purchased: String
        let given: String
    }

    /// A row for each transaction or grant by which an item is owned at a moment.
    private func rows(
        _ statement: Statement,
        of users: any SQLConvertible,
        at moment: Timestamp
    ) throws -> [SQLRow] {
        try database.rows(
            """
            SELECT \(statement.columns)
            FROM \(statement.purchased) AND revocation_date IS NULL
                AND (expires_at IS NULL OR (purchase_date <= $2 AND (expires_at > $3 OR grace_ends_at > $3)
                    AND NOT EXISTS (
                        -- A later period of the same subscription takes the place of an earlier one.
                        SELECT * FROM redeemed_transaction AS later
                        WHERE later.origin = redeemed_transaction.origin AND later.purchase_date <= $2
                            AND later.original_transaction_id = redeemed_transaction.original_transaction_id
                            AND later.purchase_date > redeemed_transaction.purchase_date)))
                AND NOT EXISTS (
                SELECT * FROM team_revocation AS taken
                WHERE taken.origin = redeemed_transaction.origin AND reinstated_at IS NULL
                    AND taken.original_transaction_id = redeemed_transaction.original_transaction_id)
            UNION ALL
            SELECT \(statement.grantColumns)
            FROM \(statement.given) AND revoked_at IS NULL AND (ends_at IS NULL OR ends_at > $3)
            """,
            // The App Store's clock may be ahead by as much as a proof's date.
            [users, moment.adding(seconds: 60), moment])
    }

    /// Newest first, older than a sequence number.
    func transactions(of user: Int64, before sequence: Int64, limit: Int) throws -> [RedeemedTransaction] {
        try database.rows(
            """
            \(Self.transactions) WHERE redeemed_transaction.user_id = $1 AND redeemed_transaction.sequence < $2
            ORDER BY redeemed_transaction.sequence DESC LIMIT $3
            """,
            [user, sequence, limit]
        ).map(Self.transaction)
    }

    /// Those of an identifier that a user has redeemed; more than one where two origins use the same.
    func transactions(_ identifier: String, of user: Int64) throws -> [RedeemedTransaction] {
        try database.rows(
            "\(Self.transactions) WHERE transaction_id = $1 AND redeemed_transaction.user_id = $2", [identifier, user]
        ).map(Self.transaction)
    }

    /// With what the team has taken back, as far as it stands.
    private static let transactions = """
        SELECT redeemed_transaction.*, revoked_at, revoked_by, reason AS team_reason
        FROM redeemed_transaction LEFT JOIN team_revocation
        ON team_revocation.origin = redeemed_transaction.origin AND reinstated_at IS NULL
            AND team_revocation.original_transaction_id = redeemed_transaction.original_transaction_id
        """

    private static func transaction(_ row: SQLRow) throws -> RedeemedTransaction {
        RedeemedTransaction(
            sequence: try row["sequence"], origin: try row["origin"], transactionIdentifier: try row["transaction_id"],
            originalTransactionIdentifier: try row["original_transaction_id"],
            productIdentifier: try row["product_id"], quantity: try row["quantity"],
            purchaseDate: try row["purchase_date"], redeemedAt: try row["redeemed_at"],
            revocationDate: try row["revocation_date"], revocationReason: try row["revocation_reason"],
            details: [
                RedeemedTransaction.Details(
                    expiresAt: try row["expires_at"], revocation: try Revocation(row, reason: "team_reason"))
            ])
    }
}
