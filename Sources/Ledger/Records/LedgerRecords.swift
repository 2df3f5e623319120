import Commerce

/// The ledger's statements, inside a transaction that the caller holds.
struct LedgerRecords {
    let database: any LedgerDatabase
    let users: UserRecords
    /// Who does what is recorded.
    let actor: AuditActor

    private var team: TeamRecords { TeamRecords(database: database) }
    private var ownerships: OwnershipRecords { OwnershipRecords(database: database) }
    private var audit: AuditRecords { AuditRecords(database: database, randomness: users.randomness) }

    /// Records one claim and what it grants.
    ///
    /// - Parameter user: The claiming user's number.
    func record(
        _ claim: Claim,
        for user: Int64,
        under policy: OwnershipPolicy,
        at moment: Timestamp
    ) throws -> Redemption.Result {
        try database.prefetch(questions(about: claim))
        let (purchase, siblings) = (try ownerships.ownership(of: claim), try parkedSiblings(of: claim))
        let named = try named(by: claim, siblings, of: purchase)
        if let refusal = try refusal(of: claim, purchase, named, to: user, under: policy, at: moment) {
            try audit.appendRefusal(refusal, claim, by: actor, to: user, at: moment)
            return refusal
        }
        let isMoved = try give(purchase, to: user, by: named?.naming, claim, at: moment)
        let result = try state(claim, of: user, by: actor, named?.naming, at: moment)
        try take(siblings, for: user, at: moment)
        return isMoved && result == .alreadyRedeemed ? .granted : result
    }

    /// Why a user is given nothing for a claim; nil where they are.
    private func refusal(
        of claim: Claim,
        _ purchase: OwnershipRecords.Ownership?,
        _ named: Named?,
        to user: Int64,
        under policy: OwnershipPolicy,
        at moment: Timestamp
    ) throws -> Redemption.Result? {
        guard claim.isKnown else { return .productUnknown }
        if let named { return named.user == user ? nil : .appAccountTokenMismatch }
        guard let purchase, purchase.user != user else { return nil }
        guard purchase.naming == nil else { return .appAccountTokenMismatch }
        guard policy != .keep, try !ownerships.addsToBalance(purchase) else { return .ownedByAnotherUser }
        return try policy.refusal(
            isActive: try ownerships.isActive(purchase, with: claim, at: moment),
            transferredAt: purchase.transferredAt, at: moment)
    }

    /// Moves a purchase to whoever has a claim to it, unless it is theirs already.
    ///
    /// - Parameter naming: The account token that says so; nil where none does.
    /// - Returns: Whether it was moved.
    private func give(
        _ purchase: OwnershipRecords.Ownership?,
        to user: Int64,
        by naming: OwnershipRecords.Naming?,
        _ claim: Claim,
        at moment: Timestamp
    ) throws -> Bool {
        guard let purchase else { return false }
        if let naming { try ownerships.remember(naming, of: purchase) }
        guard purchase.user != user else { return false }
        try ownerships.move(purchase, to: user, at: moment)
        for (event, owner) in [(AuditEntry.Event.transferredOut, purchase.user), (.transferredIn, user)] {
            try audit.append(
                AuditEntry(
                    happenedAt: moment, event: event, actor: actor, origin: purchase.origin,
                    reference: purchase.originalTransactionIdentifier, subject: claim.productIdentifier, reason: nil),
                to: owner)
        }
        return true
    }

    /// Whom an account token names.
    private struct Named {
        let user: Int64
        let naming: OwnershipRecords.Naming
    }

    /// Whom the account tokens of a claim and of what waits with it name; nil where they name nobody here, or the token of a
    /// later transaction of the same purchase has said whose it is, or it has added to somebody's balance, which may be
    /// spent. A receipt names no token; what the App Store has said of the transaction before may.
    private func named(
        by claim: Claim,
        _ siblings: [Claim],
        of purchase: OwnershipRecords.Ownership?
    ) throws -> Named? {
        let own = claim.appAccountToken == nil ? try parked(claim)?.claim : nil
        var last: Named?
        for candidate in [claim] + [own].compactMap(\.self) + siblings {
            guard let user = try candidate.appAccountToken.flatMap({ try users.owner(of: $0) }) else { continue }
            if last.map({ $0.naming < candidate.naming }) ?? true { last = Named(user: user, naming: candidate.naming) }
        }
        guard let last, let purchase else { return last }
        if let naming = purchase.naming, last.naming < naming { return nil }
        return try last.user != purchase.user && ownerships.addsToBalance(purchase) ? nil : last
    }

    /// Records what a notification states, for whomever it concerns.
    func record(
        _ notification: NotificationRecord,
        stating claim: Claim?,
        accepting accepted: AcceptedOrigins,
        at moment: Timestamp
    ) throws -> NotificationOutcome {
        guard try insert(notification, about: claim, at: moment) else { return .duplicate }
        guard let claim else { return .recorded }
        return try record(stating: claim, accepting: accepted, at: moment)
    }

    /// Records a statement about a transaction for its owner.
    func record(
        stating claim: Claim,
        accepting accepted: AcceptedOrigins,
        at moment: Timestamp
    ) throws -> NotificationOutcome {
        try database.prefetch(questions(about: claim))
        let (purchase, siblings) = (try ownerships.ownership(of: claim), try parkedSiblings(of: claim))
        let named = try named(by: claim, siblings, of: purchase)
        guard let owner = named?.user ?? purchase?.user, try isRedeemed(claim) || claim.isKnown else {
            try park(claim)
            return .parked
        }
        guard try isAccepted(claim.origin, for: owner, by: accepted) else {
            // The statement signed last counts, should the owner buy there again; it grants nothing now, and nobody hears of it.
            if let before = try standing(of: claim) {
                if Standing(claim).isLater(than: before) {
                    try write(Standing(claim), of: claim, to: claim.transactionIdentifier)
                }
            } else {
                try park(claim)
            }
            return .recorded
        }
        _ = try give(purchase, to: owner, by: named?.naming, claim, at: moment)
        let before = try standing(of: claim)
        let stood = try before.map { $0.revocationDate == nil } ?? true && !team.isRevoked(claim)
        let result = try state(claim, of: owner, by: actor, named?.naming, at: moment)
        try take(siblings, for: owner, at: moment)
        switch result {
        case .granted: return .granted
        case .revoked where stood: return .revoked
        default: return .recorded
        }
    }

    /// Whether a user's purchases may come from an origin.
    private func isAccepted(_ origin: Origin, for user: Int64, by accepted: AcceptedOrigins) throws -> Bool {
        if accepted.origins.contains(origin) { return true }
        return try users.name(of: user).map { accepted.counting(for: $0).contains(origin) } ?? false
    }

    /// Takes in a statement about a transaction of a user's.
    ///
    /// - Parameter naming: The account token that says that it is the user's; nil where none does.
    func state(
        _ claim: Claim,
        of user: Int64,
        by actor: AuditActor,
        _ naming: OwnershipRecords.Naming?,
        at moment: Timestamp
    ) throws -> Redemption.Result {
        let isRevokedByTeam = try team.isRevoked(claim)
        guard let before = try standing(of: claim) else {
            let parked = try takeParked(claim)
            let known = [Standing(claim)] + [parked?.standing, try originalStanding(of: claim)].compactMap(\.self)
            var standing = known.dropFirst().reduce(known[0]) { $1.isLater(than: $0) ? $1 : $0 }
            // What was said before the catalog knew the product says nothing of its end.
            standing.expiresAt = standing.expiresAt ?? claim.expiresAt
            try insert(claim, standing, for: user, naming, at: moment)
            try writeToRepeats(standing, of: claim, by: actor, at: moment)
            if let said = parked?.claim { _ = try write(grace: said) }
            _ = try write(grace: claim)
            let result = standing.revocationDate == nil && !isRevokedByTeam ? Redemption.Result.granted : .revoked
            try audit.append(result == .granted ? .granted : .revoked, claim, by: actor, to: user, at: moment)
            return result
        }
        let hasGrace = try write(grace: claim)
        guard Standing(claim).isLater(than: before) else {
            if hasGrace { try noteOtherEnd(of: claim, to: user, at: moment) }
            return before.revocationDate == nil && !isRevokedByTeam ? .alreadyRedeemed : .revoked
        }
        try write(Standing(claim), of: claim, to: claim.transactionIdentifier)
        try writeToRepeats(Standing(claim), of: claim, by: actor, at: moment)
        if (claim.revocationDate == nil) != (before.revocationDate == nil) {
            let event = claim.revocationDate == nil ? AuditEntry.Event.granted : .revoked
            try audit.append(event, claim, by: actor, to: user, at: moment)
        } else if hasGrace || claim.isKnown && claim.expiresAt != before.expiresAt {
            try noteOtherEnd(of: claim, to: user, at: moment)
        }
        if claim.revocationDate != nil || isRevokedByTeam { return .revoked }
        return before.revocationDate == nil ? .alreadyRedeemed : .granted
    }

    /// nil for a transaction that nobody has redeemed.
    private func standing(of claim: Claim) throws -> Standing? {
        try database.row(Self.standing(of: claim)).map(Standing.init)
    }

    private static func standing(of claim: Claim) -> SQLQuery {
        SQLQuery(
            "SELECT \(Standing.columns) FROM redeemed_transaction WHERE origin = $1 AND transaction_id = $2",
            [claim.origin, claim.transactionIdentifier])
    }

    /// The last word on the purchase that a claim repeats, said of another of its transactions or, before anybody has claimed
    /// it, of the purchase itself; nil where each transaction is a purchase of its own.
    private func originalStanding(of claim: Claim) throws -> Standing? {
        guard claim.repeatsOriginal else { return nil }
        return try database.row(Self.originalStanding(of: claim)).map(Standing.init)
    }

    private static func originalStanding(of claim: Claim) -> SQLQuery {
        SQLQuery(
            """
            SELECT * FROM (
                SELECT \(Standing.columns) FROM redeemed_transaction
                WHERE origin = $1 AND original_transaction_id = $2 AND product_id = $3
                UNION ALL
                SELECT \(Standing.columns) FROM parked_transaction WHERE origin = $1 AND transaction_id = $2) AS said
            ORDER BY stated_at DESC, revocation_date IS NULL LIMIT 1
            """,
            [claim.origin, claim.originalTransactionIdentifier, claim.productIdentifier])
    }

    /// What is asked about a claim before anything is written.
    func questions(about claim: Claim) -> [SQLQuery] {
        OwnershipRecords.ownerships(of: claim) + questionsOfParked(claim)
            + [TeamRecords.revocation(of: claim), Self.standing(of: claim)]
            + (claim.repeatsOriginal ? [Self.originalStanding(of: claim)] : [])
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

    /// Records a transaction, and what it grants for as long as it stands.
    private func insert(
        _ claim: Claim,
        _ standing: Standing,
        for user: Int64,
        _ naming: OwnershipRecords.Naming?,
        at moment: Timestamp
    ) throws {
        try database.write(
            """
            INSERT INTO original_transaction (
                origin, original_transaction_id, user_id, named_at, named_by, named_stated_at
            ) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING
            """,
            [
                claim.origin, claim.originalTransactionIdentifier, user, naming?.purchaseDate,
                naming?.transactionIdentifier, naming?.statedAt,
            ])
        // Numbered for each user, so that nobody waits for another's number.
        try database.write(
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
        try database.write(
            """
            INSERT INTO entitlement (user_id, collection, number, origin, transaction_id, granted_at)
            VALUES ($1, $2, $3, $4, $5, $6)
            """,
            [user, item.collection, item.number, claim.origin, claim.transactionIdentifier, moment])
    }

    /// Writes what a claim says of whether a transaction stands.
    private func write(_ standing: Standing, of claim: Claim, to transaction: String) throws {
        // What was said before the catalog knew the product says nothing of its end.
        let expiresAt = claim.isKnown ? "$4" : "coalesce(expires_at, $4)"
        try database.write(
            """
            UPDATE redeemed_transaction
            SET revocation_date = $1, revocation_reason = $2, stated_at = $3, expires_at = \(expiresAt)
            WHERE origin = $5 AND transaction_id = $6
            """,
            [
                standing.revocationDate, standing.revocationReason, standing.statedAt,
                claim.isKnown ? standing.expiresAt : nil, claim.origin, transaction,
            ])
    }

    /// Writes it to the other transactions that repeat the same purchase, unless they are spoken of later.
    private func writeToRepeats(
        _ standing: Standing,
        of claim: Claim,
        by actor: AuditActor,
        at moment: Timestamp
    ) throws {
        guard claim.repeatsOriginal else { return }
        let same = try database.rows(
            """
            SELECT transaction_id, user_id, \(Standing.columns) FROM redeemed_transaction
            WHERE origin = $1 AND original_transaction_id = $2 AND product_id = $3 AND transaction_id <> $4
                AND \(standing.revocationDate == nil ? "stated_at < $5" : "stated_at <= $5")
            """,
            [
                claim.origin, claim.originalTransactionIdentifier, claim.productIdentifier, claim.transactionIdentifier,
                standing.statedAt,
            ])
        for row in same {
            let (transaction, before): (String, Standing) = (try row["transaction_id"], try Standing(row))
            try write(standing, of: claim, to: transaction)
            guard (before.revocationDate == nil) != (standing.revocationDate == nil) else { continue }
            try audit.append(
                AuditEntry(
                    happenedAt: moment, event: standing.revocationDate == nil ? .granted : .revoked, actor: actor,
                    origin: claim.origin, reference: transaction, subject: claim.productIdentifier, reason: nil),
                to: try row["user_id"])
        }
    }

    /// Writes what is said of a grace period, unless something was said later; of two said at the same moment the longer.
    /// - Returns: Whether something new is said.
    private func write(grace claim: Claim) throws -> Bool {
        guard let grace = claim.grace else { return false }
        return try database.execute(
            """
            UPDATE redeemed_transaction SET grace_ends_at = $1, grace_stated_at = $2
            WHERE origin = $3 AND transaction_id = $4 AND (grace_stated_at IS NULL OR grace_stated_at < $2
                OR (grace_stated_at = $2 AND coalesce(grace_ends_at, 0) < $5))
            """,
            [
                grace.endsAt, claim.signedAt, claim.origin, claim.transactionIdentifier,
                grace.endsAt?.millisecondsSince1970 ?? 0,
            ]) == 1
    }

    /// What is paid for ends at another time: no grant and no revocation, but something that screens show.
    private func noteOtherEnd(of claim: Claim, to user: Int64, at moment: Timestamp) throws {
        try EventRecords(database: database).append(
            UserChange(kind: .endChanged, subject: claim.productIdentifier, happenedAt: moment), to: user)
    }
}
