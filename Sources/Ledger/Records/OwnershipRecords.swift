import Commerce

/// The ledger's statements about whose a purchase is, inside a transaction that the caller holds.
struct OwnershipRecords {
    let database: any LedgerDatabase

    /// Who owns a purchase.
    struct Ownership {
        let user: Int64
        let origin: Origin
        let originalTransactionIdentifier: String
        /// nil for a purchase that was never moved.
        let transferredAt: Timestamp?
        /// The transaction whose account token says whose the purchase is; nil while none does.
        let naming: Naming?

        fileprivate init(_ row: SQLRow) throws {
            user = try row["user_id"]
            origin = try row["origin"]
            originalTransactionIdentifier = try row["original_transaction_id"]
            transferredAt = try row["transferred_at"]
            let namedAt: Timestamp? = try row["named_at"]
            naming = try namedAt.map {
                Naming(
                    purchaseDate: $0, transactionIdentifier: try row["named_by"], statedAt: try row["named_stated_at"])
            }
        }
    }

    /// A transaction whose account token may say whose its purchase is: of several, that which was bought last does, and of
    /// what is said of it the last word.
    struct Naming: Comparable {
        let purchaseDate: Timestamp
        let transactionIdentifier: String
        let statedAt: Timestamp

        static func < (left: Naming, right: Naming) -> Bool {
            (left.purchaseDate, left.transactionIdentifier, left.statedAt)
                < (right.purchaseDate, right.transactionIdentifier, right.statedAt)
        }
    }

    /// Who owns the claimed transaction, or the original purchase it belongs to; nil while nobody does.
    ///
    /// The transaction itself is looked up too: proofs of two forms may name another original purchase for it.
    func ownership(of claim: Claim) throws -> Ownership? {
        for query in Self.ownerships(of: claim) {
            if let row = try database.row(query) { return try Ownership(row) }
        }
        return nil
    }

    /// What `ownership` asks for, in its order.
    static func ownerships(of claim: Claim) -> [SQLQuery] {
        [
            SQLQuery(
                """
                SELECT purchase.* FROM redeemed_transaction JOIN original_transaction AS purchase
                    USING (origin, original_transaction_id)
                WHERE redeemed_transaction.origin = $1 AND transaction_id = $2
                """,
                [claim.origin, claim.transactionIdentifier]),
            SQLQuery(
                "SELECT * FROM original_transaction WHERE origin = $1 AND original_transaction_id = $2",
                [claim.origin, claim.originalTransactionIdentifier]),
        ]
    }

    /// Whether something of a purchase counts, or would if a claim were taken in that goes on where the purchase ends: the
    /// App Store tells of a renewal when the period before has ended.
    func isActive(_ purchase: Ownership, with claim: Claim, at moment: Timestamp) throws -> Bool {
        let isTakenBack: Bool? = try database.value(
            """
            SELECT EXISTS (
                SELECT * FROM team_revocation
                WHERE origin = $1 AND original_transaction_id = $2 AND reinstated_at IS NULL)
            """,
            [purchase.origin, purchase.originalTransactionIdentifier])
        if isTakenBack == true { return false }
        let last = try database.row(
            """
            SELECT count(*) AS transactions, count(expires_at) AS ending, max(expires_at) AS expires_at,
                max(grace_ends_at) AS grace_ends_at
            FROM redeemed_transaction
            WHERE origin = $1 AND original_transaction_id = $2 AND revocation_date IS NULL
            """,
            [purchase.origin, purchase.originalTransactionIdentifier])
        guard let last else { return false }
        let (transactions, ending): (Int, Int) = (try last["transactions"], try last["ending"])
        if ending < transactions { return true }
        let ends: [Timestamp?] = [try last["expires_at"], try last["grace_ends_at"]]
        guard let end = ends.compactMap(\.self).max() else { return false }
        if end > moment { return true }
        guard let renewedUntil = claim.expiresAt, claim.revocationDate == nil else { return false }
        // The clocks of a store's machines are not one.
        return renewedUntil > moment && claim.purchaseDate <= end.adding(seconds: 3600)
    }

    /// Whether a purchase has added to a balance.
    func addsToBalance(_ purchase: Ownership) throws -> Bool {
        try database.value(
            """
            SELECT EXISTS (
                SELECT * FROM redeemed_transaction JOIN credit USING (origin, transaction_id)
                WHERE redeemed_transaction.origin = $1 AND original_transaction_id = $2)
            """,
            [purchase.origin, purchase.originalTransactionIdentifier]) ?? false
    }

    /// Gives a purchase to another user, with all its transactions and what they grant; in the other's list they are the
    /// newest.
    func move(_ purchase: Ownership, to user: Int64, at moment: Timestamp) throws {
        // Beyond every number that either user has, in their order.
        var number = try max(lastNumber(of: purchase.user), lastNumber(of: user))
        let moving = try database.rows(
            """
            SELECT transaction_id FROM redeemed_transaction
            WHERE origin = $1 AND original_transaction_id = $2 ORDER BY sequence
            """,
            [purchase.origin, purchase.originalTransactionIdentifier])
        for row in moving {
            number += 1
            try database.write(
                "UPDATE redeemed_transaction SET sequence = $1 WHERE origin = $2 AND transaction_id = $3",
                [number, purchase.origin, try row["transaction_id"] as String])
        }
        // The keys carry it on to the transactions, and from them to what they grant.
        try database.write(
            """
            UPDATE original_transaction SET user_id = $1, transferred_at = $2
            WHERE origin = $3 AND original_transaction_id = $4
            """,
            [user, moment, purchase.origin, purchase.originalTransactionIdentifier])
    }

    private func lastNumber(of user: Int64) throws -> Int64 {
        try database.value(
            "SELECT coalesce(max(sequence), 0) FROM redeemed_transaction WHERE user_id = $1", [user]) ?? 0
    }

    /// Remembers which account token says whose a purchase is.
    func remember(_ naming: Naming, of purchase: Ownership) throws {
        guard purchase.naming.map({ $0 < naming }) ?? true else { return }
        try database.write(
            """
            UPDATE original_transaction SET named_at = $1, named_by = $2, named_stated_at = $3
            WHERE origin = $4 AND original_transaction_id = $5
            """,
            [
                naming.purchaseDate, naming.transactionIdentifier, naming.statedAt, purchase.origin,
                purchase.originalTransactionIdentifier,
            ])
    }
}

extension Claim {
    var naming: OwnershipRecords.Naming {
        OwnershipRecords.Naming(
            purchaseDate: purchaseDate, transactionIdentifier: transactionIdentifier, statedAt: signedAt)
    }
}
