import Commerce
import Foundation
import GRDB

/// The ledger's statements, inside a transaction that the caller holds.
struct LedgerRecords {
    let database: Database
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
            standing.expiresAt = standing.expiresAt ?? claim.expiresAt?.millisecondsSince1970
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
        try Row.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT revocation_date, revocation_reason, expires_at, stated_at
                    FROM redeemed_transaction WHERE origin = ? AND transaction_id = ?
                    """),
            arguments: [claim.origin.rawValue, claim.transactionIdentifier]
        ).map(Standing.init)
    }

    /// The last word on the purchase that a claim repeats, said of another of its transactions or, before anybody has claimed
    /// it, of the purchase itself; nil where each transaction is a purchase of its own.
    private func originalStanding(of claim: Claim) throws -> Standing? {
        guard claim.repeatsOriginal else { return nil }
        return try Row.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT * FROM (
                        SELECT revocation_date, revocation_reason, expires_at, stated_at FROM redeemed_transaction
                        WHERE origin = :origin AND original_transaction_id = :original AND product_id = :product
                        UNION ALL
                        SELECT revocation_date, revocation_reason, expires_at, stated_at FROM parked_transaction
                        WHERE origin = :origin AND transaction_id = :original)
                    ORDER BY stated_at DESC, revocation_date IS NULL LIMIT 1
                    """),
            arguments: [
                "origin": claim.origin.rawValue, "original": claim.originalTransactionIdentifier,
                "product": claim.productIdentifier,
            ]
        ).map(Standing.init)
    }

    private func isRedeemed(_ claim: Claim) throws -> Bool {
        try standing(of: claim) != nil
    }

    /// - Returns: false when it came before.
    private func insert(_ notification: NotificationRecord, about claim: Claim?, at moment: Timestamp) throws -> Bool {
        try database.cachedStatement(
            sql: """
                INSERT OR IGNORE INTO notification (
                    origin, notification_uuid, type, subtype, transaction_id, signed_at, received_at, proof_digest
                ) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            notification.origin.rawValue, notification.notificationUUID, notification.type, notification.subtype,
            claim?.transactionIdentifier, notification.signedAt.millisecondsSince1970, moment.millisecondsSince1970,
            Data(notification.proofDigest),
        ])
        return database.changesCount == 1
    }

    /// Who owns the claimed transaction, or the original purchase it belongs to; nil while nobody does.
    ///
    /// The transaction itself is looked up too: proofs of two forms may name another original purchase for it.
    private func owner(of claim: Claim) throws -> Int64? {
        let owner = try Int64.fetchOne(
            database.cachedStatement(
                sql: "SELECT user_id FROM redeemed_transaction WHERE origin = ? AND transaction_id = ?"),
            arguments: [claim.origin.rawValue, claim.transactionIdentifier])
        if let owner { return owner }
        return try Int64.fetchOne(
            database.cachedStatement(
                sql: "SELECT user_id FROM original_transaction WHERE origin = ? AND original_transaction_id = ?"),
            arguments: [claim.origin.rawValue, claim.originalTransactionIdentifier])
    }

    /// Records a transaction, and what it grants for as long as it stands.
    private func insert(_ claim: Claim, _ standing: Standing, for user: Int64, at moment: Timestamp) throws {
        try database.cachedStatement(sql: "INSERT OR IGNORE INTO original_transaction VALUES (?, ?, ?)").execute(
            arguments: [claim.origin.rawValue, claim.originalTransactionIdentifier, user])
        try database.cachedStatement(
            sql: """
                INSERT INTO redeemed_transaction (
                    origin, transaction_id, original_transaction_id, user_id, product_id, quantity,
                    purchase_date, revocation_date, revocation_reason, expires_at, stated_at, redeemed_at, proof_digest
                ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            claim.origin.rawValue, claim.transactionIdentifier, claim.originalTransactionIdentifier, user,
            claim.productIdentifier, claim.quantity, claim.purchaseDate.millisecondsSince1970,
            standing.revocationDate, standing.revocationReason, standing.expiresAt, standing.statedAt,
            moment.millisecondsSince1970, Data(claim.proofDigest),
        ])
        if let credit = claim.credit {
            try BalanceRecords(database: database).insert(credit, quantity: claim.quantity, of: claim, for: user)
        }
        guard let item = claim.item else { return }
        try database.cachedStatement(
            sql: """
                INSERT INTO entitlement (user_id, collection, number, origin, transaction_id, granted_at)
                VALUES (?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            user, item.collection, item.number, claim.origin.rawValue, claim.transactionIdentifier,
            moment.millisecondsSince1970,
        ])
    }

    /// Writes whether a transaction stands, and with it those that repeat the same purchase, unless they are spoken of later.
    private func write(_ standing: Standing, of claim: Claim) throws {
        try database.cachedStatement(
            sql: """
                \(Self.updateStanding)
                WHERE origin = :origin AND transaction_id = :transaction
                """
        ).execute(arguments: Self.arguments(standing, claim) + ["transaction": claim.transactionIdentifier])
        guard claim.repeatsOriginal else { return }
        try database.cachedStatement(
            sql: """
                \(Self.updateStanding)
                WHERE origin = :origin AND original_transaction_id = :original AND product_id = :product
                    AND (stated_at < :stated OR (stated_at = :stated AND :date IS NOT NULL))
                """
        ).execute(
            arguments: Self.arguments(standing, claim) + [
                "original": claim.originalTransactionIdentifier, "product": claim.productIdentifier,
            ])
    }

    private static let updateStanding = """
        UPDATE redeemed_transaction
        SET revocation_date = :date, revocation_reason = :reason, stated_at = :stated,
            expires_at = CASE WHEN :known THEN :expires ELSE expires_at END
        """

    private static func arguments(_ standing: Standing, _ claim: Claim) -> StatementArguments {
        [
            "date": standing.revocationDate, "reason": standing.revocationReason, "stated": standing.statedAt,
            "expires": standing.expiresAt, "known": claim.isKnown, "origin": claim.origin.rawValue,
        ]
    }

    /// Writes what is said of a grace period, unless something was said later; of two said at the same moment the longer.
    private func write(grace claim: Claim) throws {
        guard let grace = claim.grace else { return }
        try database.cachedStatement(
            sql: """
                UPDATE redeemed_transaction SET grace_ends_at = :ends, grace_stated_at = :stated
                WHERE origin = :origin AND transaction_id = :transaction AND (grace_stated_at IS NULL
                    OR grace_stated_at < :stated
                    OR (grace_stated_at = :stated AND coalesce(grace_ends_at, 0) < coalesce(:ends, 0)))
                """
        ).execute(arguments: [
            "ends": grace.endsAt?.millisecondsSince1970, "stated": claim.signedAt.millisecondsSince1970,
            "origin": claim.origin.rawValue, "transaction": claim.transactionIdentifier,
        ])
    }
}
