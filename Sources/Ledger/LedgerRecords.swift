import Commerce
import Foundation
import GRDB

/// The ledger's statements, inside a transaction that the caller holds.
struct LedgerRecords {
    let database: Database
    let users: UserRecords

    /// Records one claim and what it grants.
    ///
    /// - Parameter user: The claiming user's number.
    func record(_ claim: Claim, for user: Int64, at moment: Timestamp) throws -> Redemption.Result {
        if let token = claim.appAccountToken, let named = try users.owner(of: token), named != user {
            return .appAccountTokenMismatch
        }
        if let owner = try owner(of: claim), owner != user { return .ownedByAnotherUser }
        switch try state(of: claim, for: user) {
        case .unknown:
            try insert(claim, for: user, at: moment)
            guard claim.revocationDate == nil else { return .revoked }
            try insertEntitlement(claim, for: user, at: moment)
            return .granted
        case .standing:
            guard let revocationDate = claim.revocationDate else { return .alreadyRedeemed }
            try revoke(claim, at: revocationDate)
            return .revoked
        case .revoked:
            return .revoked
        case .ofAnotherUser:
            return .ownedByAnotherUser
        }
    }

    func items(of user: Int64) throws -> [Item] {
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT DISTINCT collection, number
                    FROM entitlement JOIN redeemed_transaction USING (origin, transaction_id)
                    WHERE entitlement.user_id = ? AND revocation_date IS NULL
                    ORDER BY collection, number
                    """),
            arguments: [user])
        return rows.map { Item(collection: $0["collection"], number: $0["number"]) }
    }

    /// Newest first, older than a sequence number.
    func transactions(of user: Int64, before sequence: Int64, limit: Int) throws -> [RedeemedTransaction] {
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT * FROM redeemed_transaction WHERE user_id = ? AND sequence < ?
                    ORDER BY sequence DESC LIMIT ?
                    """),
            arguments: [user, sequence, limit])
        return rows.compactMap { row in
            let origin: String = row["origin"]
            // Only origins of ours are ever written.
            guard let origin = Origin(rawValue: origin) else { return nil }
            let revocationDate: Int64? = row["revocation_date"]
            return RedeemedTransaction(
                sequence: row["sequence"], origin: origin, transactionIdentifier: row["transaction_id"],
                originalTransactionIdentifier: row["original_transaction_id"], productIdentifier: row["product_id"],
                quantity: row["quantity"], purchaseDate: Timestamp(millisecondsSince1970: row["purchase_date"]),
                redeemedAt: Timestamp(millisecondsSince1970: row["redeemed_at"]),
                revocationDate: revocationDate.map(Timestamp.init(millisecondsSince1970:)))
        }
    }

    /// Where a claimed transaction stands in the ledger.
    private enum TransactionState {
        case unknown
        case standing
        case revoked
        case ofAnotherUser
    }

    private func state(of claim: Claim, for user: Int64) throws -> TransactionState {
        let row = try Row.fetchOne(
            database.cachedStatement(
                sql: "SELECT user_id, revocation_date FROM redeemed_transaction WHERE origin = ? AND transaction_id = ?"
            ),
            arguments: [claim.origin.rawValue, claim.transactionIdentifier])
        guard let row else { return .unknown }
        let owner: Int64 = row["user_id"]
        guard owner == user else { return .ofAnotherUser }
        let revocationDate: Int64? = row["revocation_date"]
        return revocationDate == nil ? .standing : .revoked
    }

    private func owner(of claim: Claim) throws -> Int64? {
        try Int64.fetchOne(
            database.cachedStatement(
                sql: "SELECT user_id FROM original_transaction WHERE origin = ? AND original_transaction_id = ?"),
            arguments: [claim.origin.rawValue, claim.originalTransactionIdentifier])
    }

    private func insert(_ claim: Claim, for user: Int64, at moment: Timestamp) throws {
        try database.cachedStatement(sql: "INSERT OR IGNORE INTO original_transaction VALUES (?, ?, ?)").execute(
            arguments: [claim.origin.rawValue, claim.originalTransactionIdentifier, user])
        try database.cachedStatement(
            sql: """
                INSERT INTO redeemed_transaction (
                    origin, transaction_id, original_transaction_id, user_id, product_id, quantity,
                    purchase_date, revocation_date, redeemed_at, proof_digest
                ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            claim.origin.rawValue, claim.transactionIdentifier, claim.originalTransactionIdentifier, user,
            claim.productIdentifier, claim.quantity, claim.purchaseDate.millisecondsSince1970,
            claim.revocationDate?.millisecondsSince1970, moment.millisecondsSince1970, Data(claim.proofDigest),
        ])
    }

    private func insertEntitlement(_ claim: Claim, for user: Int64, at moment: Timestamp) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO entitlement (user_id, collection, number, origin, transaction_id, granted_at)
                VALUES (?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            user, claim.item.collection, claim.item.number, claim.origin.rawValue, claim.transactionIdentifier,
            moment.millisecondsSince1970,
        ])
    }

    private func revoke(_ claim: Claim, at date: Timestamp) throws {
        try database.cachedStatement(
            sql: "UPDATE redeemed_transaction SET revocation_date = ? WHERE origin = ? AND transaction_id = ?"
        ).execute(arguments: [
            date.millisecondsSince1970, claim.origin.rawValue, claim.transactionIdentifier,
        ])
    }
}
