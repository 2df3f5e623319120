import Ledger
import Proofs

/// The SQL about single customers, inside the caller's transaction.
struct CustomerRecords {
    let database: any LedgerDatabase

    /// The maximum number of transactions that one page of a product's customers reads. A subscriber has many.
    private static let maximumTransactions = 500

    /// The customers of a product, the latest redemption first. Each user is listed once, by the latest transaction.
    ///
    /// - Parameter position: The end of the previous page; nil for the first page.
    func customers(
        ofProduct product: String,
        after position: ProductCustomer.Position?,
        _ users: UserRecords,
        limit: Int
    ) throws -> ProductCustomer.Page {
        let rows = try database.rows(
            """
            SELECT user_id, sequence, transaction_id, origin, purchase_date, redeemed_at FROM redeemed_transaction
            WHERE product_id = $1 AND (redeemed_at, user_id, sequence) < ($2, $3, $4)
            ORDER BY redeemed_at DESC, user_id DESC, sequence DESC LIMIT $5
            """,
            [
                product, position?.redeemedAt ?? Timestamp(millisecondsSince1970: .max), position?.user ?? .max,
                position?.sequence ?? .max, Self.maximumTransactions,
            ])
        let found = Set(try rows.map { try $0["user_id"] as Int64 })
        let (latest, names) = (try latestRedemptions(of: product, by: found), try users.names(of: found))
        var customers: [ProductCustomer] = []
        var end: ProductCustomer.Position?
        // The last user of the previous page may have further transactions of the same moment.
        var listed: Set<Int64> = Set(position.map { [$0.user] } ?? [])
        for row in rows {
            let (user, redeemedAt): (Int64, Timestamp) = (try row["user_id"], try row["redeemed_at"])
            if customers.count == limit { return ProductCustomer.Page(customers: customers, next: end) }
            end = ProductCustomer.Position(redeemedAt: redeemedAt, user: user, sequence: try row["sequence"])
            guard latest[user] == redeemedAt, listed.insert(user).inserted, let name = names[user],
                name.issuer != User.erasedIssuer
            else { continue }
            customers.append(
                ProductCustomer(
                    user: name, transactionIdentifier: try row["transaction_id"], origin: try row["origin"],
                    purchaseDate: try row["purchase_date"], redeemedAt: redeemedAt))
        }
        return ProductCustomer.Page(customers: customers, next: rows.count == Self.maximumTransactions ? end : nil)
    }

    private func latestRedemptions(of product: String, by users: Set<Int64>) throws -> [Int64: Timestamp] {
        guard !users.isEmpty else { return [:] }
        // The query uses the users' key, not the product's index.
        let rows = try database.rows(
            """
            SELECT user_id, max(redeemed_at) AS latest FROM \(database.listed("$1"))
                JOIN redeemed_transaction ON user_id = listed.value
            WHERE coalesce(product_id, '') = $2 GROUP BY user_id
            """,
            [database.list(users.sorted()), product])
        return Dictionary(uniqueKeysWithValues: try rows.map { (try $0["user_id"], try $0["latest"]) })
    }

    /// The digests of the proofs of a user's transactions of an identifier.
    func proofs(of identifier: String, of user: Int64) throws -> [Proof] {
        let isKept =
            try database.has("kept_proof")
            ? """
            (SELECT count(*) FROM kept_proof WHERE kept_proof.user_id = redeemed.user_id
                AND kept_proof.proof_digest = redeemed.proof_digest)
            """ : "0"
        return try database.rows(
            """
            SELECT redeemed.sequence, stated_at, proof_digest, anchor_digest, leaf_digest, \(isKept) AS kept, balance, amount
            FROM redeemed_transaction AS redeemed LEFT JOIN credit
                ON credit.user_id = redeemed.user_id AND credit.sequence = redeemed.sequence
            WHERE redeemed.user_id = $1 AND transaction_id = $2
            """,
            [user, identifier]
        ).map { row in
            let (balance, amount): (String?, Int?) = (try row["balance"], try row["amount"])
            return Proof(
                sequence: try row["sequence"], statedAt: try row["stated_at"], digest: try row["proof_digest"],
                anchorDigest: try row["anchor_digest"], leafDigest: try row["leaf_digest"],
                isKept: (try row["kept"] as Int64) > 0,
                credit: balance.flatMap { name in amount.map { Credit(balance: name, amount: $0) } })
        }
    }

    /// The proof of a redeemed transaction.
    struct Proof {
        let sequence: Int64
        let statedAt: Timestamp
        let digest: [UInt8]
        let anchorDigest: [UInt8]?
        let leafDigest: [UInt8]?
        let isKept: Bool
        let credit: Credit?
    }

    /// True if a user has redeemed a transaction, also if it is revoked.
    func hasPurchases(_ user: Int64) throws -> Bool {
        // A distributed database accepts no LIMIT in a subquery about each of several users.
        try database.row("SELECT sequence FROM redeemed_transaction WHERE user_id = $1 LIMIT 1", [user]) != nil
    }

    /// True if the team has given any of the customers something, or an import expects a purchase of one.
    func haveGifts(_ customers: Set<Int64>) throws -> Bool {
        try ["team_grant", "balance_addition", "expected_transaction"].contains { table in
            try database.row(
                "SELECT user_id FROM \(database.listed("$1")) JOIN \(table) ON user_id = listed.value LIMIT 1",
                [database.list(customers.sorted())]) != nil
        }
    }

    /// A notification about a purchase of a user; nil for another notification.
    func notification(_ identifier: String, from origin: Origin, of user: Int64) throws -> RecordedNotification? {
        try database.row(
            """
            SELECT * FROM notification WHERE notification_uuid = $1 AND origin = $2 AND EXISTS (
                SELECT 1 FROM redeemed_transaction AS bought
                WHERE bought.user_id = $3 AND bought.original_transaction_id = notification.original_transaction_id
                    AND bought.origin = notification.origin AND bought.app = notification.app)
            """,
            [identifier, origin, user]
        ).map {
            RecordedNotification(
                notification: try SupportRecords.notification($0), proofDigest: try $0["proof_digest"])
        }
    }
}
