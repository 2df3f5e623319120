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
            naming = try namedAt.map { Naming(purchaseDate: $0, transactionIdentifier: try row["named_by"]) }
        }
    }

    /// A transaction whose account token may say whose its purchase is: of several, that which was bought last does.
    struct Naming: Comparable {
        let purchaseDate: Timestamp
        let transactionIdentifier: String

        static func < (left: Naming, right: Naming) -> Bool {
            (left.purchaseDate, left.transactionIdentifier) < (right.purchaseDate, right.transactionIdentifier)
        }
    }

    /// Who owns the claimed transaction, or the original purchase it belongs to; nil while nobody does.
    ///
    /// The transaction itself is looked up too: proofs of two forms may name another original purchase for it.
    func ownership(of claim: Claim) throws -> Ownership? {
        let redeemed = try database.row(
            """
            SELECT purchase.* FROM redeemed_transaction JOIN original_transaction AS purchase
                USING (origin, original_transaction_id)
            WHERE redeemed_transaction.origin = $1 AND transaction_id = $2
            """,
            [claim.origin, claim.transactionIdentifier])
        if let redeemed { return try Ownership(redeemed) }
        return try database.row(
            "SELECT * FROM original_transaction WHERE origin = $1 AND original_transaction_id = $2",
            [claim.origin, claim.originalTransactionIdentifier]
        ).map(Ownership.init)
    }

    /// Whether something of a purchase counts.
    func isActive(_ purchase: Ownership, at moment: Timestamp) throws -> Bool {
        try database.value(
            """
            SELECT EXISTS (
                SELECT * FROM redeemed_transaction WHERE origin = $1 AND original_transaction_id = $2
                    AND revocation_date IS NULL AND (expires_at IS NULL OR expires_at > $3 OR grace_ends_at > $3)
            ) AND NOT EXISTS (
                SELECT * FROM team_revocation
                WHERE origin = $1 AND original_transaction_id = $2 AND reinstated_at IS NULL)
            """,
            [purchase.origin, purchase.originalTransactionIdentifier, moment]) ?? false
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
        // Beyond every number that either user has.
        try database.execute(
            """
            UPDATE redeemed_transaction SET sequence = sequence
                + (SELECT max(sequence) FROM redeemed_transaction AS other WHERE other.user_id IN ($1, $2))
            WHERE origin = $3 AND original_transaction_id = $4
            """,
            [purchase.user, user, purchase.origin, purchase.originalTransactionIdentifier])
        // The keys carry it on to the transactions, and from them to what they grant.
        try database.execute(
            """
            UPDATE original_transaction SET user_id = $1, transferred_at = $2
            WHERE origin = $3 AND original_transaction_id = $4
            """,
            [user, moment, purchase.origin, purchase.originalTransactionIdentifier])
    }

    /// Remembers that a transaction's account token says whose a purchase is.
    func remember(_ claim: Claim, names purchase: Ownership) throws {
        let naming = claim.naming
        guard purchase.naming.map({ $0 < naming }) ?? true else { return }
        try database.execute(
            """
            UPDATE original_transaction SET named_at = $1, named_by = $2
            WHERE origin = $3 AND original_transaction_id = $4
            """,
            [
                naming.purchaseDate, naming.transactionIdentifier, purchase.origin,
                purchase.originalTransactionIdentifier,
            ])
    }
}

extension Claim {
    var naming: OwnershipRecords.Naming {
        OwnershipRecords.Naming(purchaseDate: purchaseDate, transactionIdentifier: transactionIdentifier)
    }
}
