import Commerce

/// The ledger's statements, inside a transaction that the caller holds.
struct LedgerRecords {
    let database: any LedgerDatabase
    let users: UserRecords

    private var team: TeamRecords { TeamRecords(database: database) }

    /// Records one claim and what it grants.
    ///
    /// - Parameter user: The claiming user's number.
    func record(_ claim: Claim, for user: Int64, at moment: Timestamp) throws -> Redemption.Result {
        // A receipt names no token; what the App Store has said of the transaction may.
        if let token = try claim.appAccountToken ?? parked(claim)?.claim?.appAccountToken,
            let named = try users.owner(of: token), named != user
        {
            return .appAccountTokenMismatch
        }
        if let owner = try owner(of: claim), owner != user { return .ownedByAnotherUser }
        let result = try state(claim, of: user, at: moment)
        try claimParked(original: claim, for: user, at: moment)
        return result
    }

    /// Records what a notification states, for whomever it concerns.
    func record(
        _ notification: NotificationRecord,
        stating claim: Claim?,
        at moment: Timestamp
    ) throws -> NotificationOutcome {
        guard try insert(notification, about: claim, at: moment) else { return .duplicate }
        guard let claim else { return .recorded }
        return try record(stating: claim, at: moment)
    }

    /// Records what is stated of a transaction, for whomever it concerns.
    func record(stating claim: Claim, at moment: Timestamp) throws -> NotificationOutcome {
        let named = try claim.appAccountToken.flatMap { try users.owner(of: $0) }
        guard let owner = try owner(of: claim) ?? named, try isRedeemed(claim) || claim.isKnown else {
            try park(claim)
            return .parked
        }
        let before = try standing(of: claim)
        let stood = try before.map { $0.revocationDate == nil } ?? true && !team.isRevoked(claim)
        let result = try state(claim, of: owner, at: moment)
        try claimParked(original: claim, for: owner, at: moment)
        switch result {
        case .granted: return .granted
        case .revoked where stood: return .revoked
        default: return .recorded
        }
    }

    /// Takes in a statement about a transaction of a user's.
    func state(_ claim: Claim, of user: Int64, at moment: Timestamp) throws -> Redemption.Result {
        let isRevokedByTeam = try team.isRevoked(claim)
        guard let before = try standing(of: claim) else {
            let parked = try takeParked(claim)
            let known = [Standing(claim)] + [parked?.standing, try originalStanding(of: claim)].compactMap(\.self)
            var standing = known.dropFirst().reduce(known[0]) { $1.isLater(than: $0) ? $1 : $0 }
            // What was said before the catalog knew the product says nothing of its end.
            standing.expiresAt = standing.expiresAt ?? claim.expiresAt
            try insert(claim, standing, for: user, at: moment)
            try write(standing, of: claim)
            if let said = parked?.claim { try write(grace: said) }
            try write(grace: claim)
            return standing.revocationDate == nil && !isRevokedByTeam ? .granted : .revoked
        }
        try write(grace: claim)
        guard Standing(claim).isLater(than: before) else {
            return before.revocationDate == nil && !isRevokedByTeam ? .alreadyRedeemed : .revoked
        }
        try write(Standing(claim), of: claim)
        if claim.revocationDate != nil || isRevokedByTeam { return .revoked }
        return before.revocationDate == nil ? .alreadyRedeemed : .granted
    }

    /// nil for a transaction that nobody has redeemed.
    private func standing(of claim: Claim) throws -> Standing? {
        try database.row(
            """
            SELECT \(Standing.columns) FROM redeemed_transaction WHERE origin = $1 AND transaction_id = $2
            """,
            [claim.origin, claim.transactionIdentifier]
        ).map(Standing.init)
    }

    /// The last word on the purchase that a claim repeats, said of another of its transactions or, before anybody has claimed
    /// it, of the purchase itself; nil where each transaction is a purchase of its own.
    private func originalStanding(of claim: Claim) throws -> Standing? {
        guard claim.repeatsOriginal else { return nil }
        return try database.row(
            """
            SELECT * FROM (
                SELECT \(Standing.columns) FROM redeemed_transaction
                WHERE origin = $1 AND original_transaction_id = $2 AND product_id = $3
                UNION ALL
                SELECT \(Standing.columns) FROM parked_transaction WHERE origin = $1 AND transaction_id = $2) AS said
            ORDER BY stated_at DESC, revocation_date IS NULL LIMIT 1
            """,
            [claim.origin, claim.originalTransactionIdentifier, claim.productIdentifier]
        ).map(Standing.init)
    }

    private func isRedeemed(_ claim: Claim) throws -> Bool {
        try standing(of: claim) != nil
    }

    /// - Returns: false when it came before.
    private func insert(_ notification: NotificationRecord, about claim: Claim?, at moment: Timestamp) throws -> Bool {
        try database.execute(
            """
            INSERT INTO notification (
                origin, notification_uuid, type, subtype, transaction_id, signed_at, received_at, proof_digest
            ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING
            """,
            [
                notification.origin, notification.notificationUUID, notification.type, notification.subtype,
                claim?.transactionIdentifier, notification.signedAt, moment, notification.proofDigest,
            ]) == 1
    }

    /// Who owns the claimed transaction, or the original purchase it belongs to; nil while nobody does.
    ///
    /// The transaction itself is looked up too: proofs of two forms may name another original purchase for it.
    private func owner(of claim: Claim) throws -> Int64? {
        let owner: Int64? = try database.value(
            "SELECT user_id FROM redeemed_transaction WHERE origin = $1 AND transaction_id = $2",
            [claim.origin, claim.transactionIdentifier])
        if let owner { return owner }
        return try database.value(
            "SELECT user_id FROM original_transaction WHERE origin = $1 AND original_transaction_id = $2",
            [claim.origin, claim.originalTransactionIdentifier])
    }

    /// Records a transaction, and what it grants for as long as it stands.
    private func insert(_ claim: Claim, _ standing: Standing, for user: Int64, at moment: Timestamp) throws {
        try database.execute(
            """
            INSERT INTO original_transaction (origin, original_transaction_id, user_id) VALUES ($1, $2, $3)
            ON CONFLICT DO NOTHING
            """,
            [claim.origin, claim.originalTransactionIdentifier, user])
        // Numbered for each user, so that nobody waits for another's number.
        try database.execute(
            """
            INSERT INTO redeemed_transaction (
                origin, transaction_id, original_transaction_id, user_id, product_id, quantity,
                purchase_date, revocation_date, revocation_reason, expires_at, stated_at, redeemed_at, proof_digest,
                sequence
            ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
                (SELECT coalesce(max(sequence), 0) + 1 FROM redeemed_transaction WHERE user_id = $4))
            """,
            [
                claim.origin, claim.transactionIdentifier, claim.originalTransactionIdentifier, user,
                claim.productIdentifier, claim.quantity, claim.purchaseDate, standing.revocationDate,
                standing.revocationReason, standing.expiresAt, standing.statedAt, moment, claim.proofDigest,
            ])
        if let credit = claim.credit {
            try BalanceRecords(database: database).insert(credit, quantity: claim.quantity, of: claim, for: user)
        }
        guard let item = claim.item else { return }
        try database.execute(
            """
            INSERT INTO entitlement (user_id, collection, number, origin, transaction_id, granted_at)
            VALUES ($1, $2, $3, $4, $5, $6)
            """,
            [user, item.collection, item.number, claim.origin, claim.transactionIdentifier, moment])
    }

    /// Writes whether a transaction stands, and with it those that repeat the same purchase, unless they are spoken of later.
    private func write(_ standing: Standing, of claim: Claim) throws {
        // What was said before the catalog knew the product says nothing of its end.
        let expiresAt = claim.isKnown ? "$4" : "coalesce(expires_at, $4)"
        let update = """
            UPDATE redeemed_transaction
            SET revocation_date = $1, revocation_reason = $2, stated_at = $3, expires_at = \(expiresAt)
            """
        let said: [any SQLConvertible] = [
            standing.revocationDate, standing.revocationReason, standing.statedAt,
            claim.isKnown ? standing.expiresAt : nil, claim.origin,
        ]
        try database.execute(
            "\(update) WHERE origin = $5 AND transaction_id = $6", said + [claim.transactionIdentifier])
        guard claim.repeatsOriginal else { return }
        let isLater = standing.revocationDate == nil ? "stated_at < $3" : "stated_at <= $3"
        try database.execute(
            "\(update) WHERE origin = $5 AND original_transaction_id = $6 AND product_id = $7 AND \(isLater)",
            said + [claim.originalTransactionIdentifier, claim.productIdentifier])
    }

    /// Writes what is said of a grace period, unless something was said later; of two said at the same moment the longer.
    private func write(grace claim: Claim) throws {
        guard let grace = claim.grace else { return }
        try database.execute(
            """
            UPDATE redeemed_transaction SET grace_ends_at = $1, grace_stated_at = $2
            WHERE origin = $3 AND transaction_id = $4 AND (grace_stated_at IS NULL OR grace_stated_at < $2
                OR (grace_stated_at = $2 AND coalesce(grace_ends_at, 0) < $5))
            """,
            [
                grace.endsAt, claim.signedAt, claim.origin, claim.transactionIdentifier,
                grace.endsAt?.millisecondsSince1970 ?? 0,
            ])
    }
}
