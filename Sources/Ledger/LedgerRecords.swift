import Commerce
import Foundation
import GRDB

/// The ledger's statements, inside a transaction that the caller holds.
struct LedgerRecords {
    let database: Database

    /// Records one claim and what it grants.
    func record(_ claim: Claim, for user: User, at moment: Timestamp) throws -> Redemption.Result {
        if let owner = try owner(of: claim), !owner.utf8.elementsEqual(user.name.utf8) { return .ownedByAnotherUser }
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

    func items(of user: User) throws -> [Item] {
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT DISTINCT collection, number
                    FROM entitlement JOIN redeemed_transaction USING (origin, transaction_id)
                    WHERE entitlement.user = ? AND revocation_date IS NULL
                    ORDER BY collection, number
                    """),
            arguments: [user.name])
        return rows.map { Item(collection: $0["collection"], number: $0["number"]) }
    }

    /// Where a claimed transaction stands in the ledger.
    private enum TransactionState {
        case unknown
        case standing
        case revoked
        case ofAnotherUser
    }

    private func state(of claim: Claim, for user: User) throws -> TransactionState {
        let row = try Row.fetchOne(
            database.cachedStatement(
                sql: "SELECT user, revocation_date FROM redeemed_transaction WHERE origin = ? AND transaction_id = ?"),
            arguments: [claim.origin.rawValue, claim.transactionIdentifier])
        guard let row else { return .unknown }
        let owner: String = row["user"]
        guard owner.utf8.elementsEqual(user.name.utf8) else { return .ofAnotherUser }
        let revocationDate: Int64? = row["revocation_date"]
        return revocationDate == nil ? .standing : .revoked
    }

    private func owner(of claim: Claim) throws -> String? {
        try String.fetchOne(
            database.cachedStatement(
                sql: "SELECT user FROM original_transaction WHERE origin = ? AND original_transaction_id = ?"),
            arguments: [claim.origin.rawValue, claim.originalTransactionIdentifier])
    }

    private func insert(_ claim: Claim, for user: User, at moment: Timestamp) throws {
        try database.cachedStatement(sql: "INSERT OR IGNORE INTO original_transaction VALUES (?, ?, ?)").execute(
            arguments: [claim.origin.rawValue, claim.originalTransactionIdentifier, user.name])
        try database.cachedStatement(
            sql: """
                INSERT INTO redeemed_transaction (
                    origin, transaction_id, original_transaction_id, user, product_id, quantity,
                    purchase_date, revocation_date, redeemed_at, proof_digest
                ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            claim.origin.rawValue, claim.transactionIdentifier, claim.originalTransactionIdentifier, user.name,
            claim.productIdentifier, claim.quantity, claim.purchaseDate.millisecondsSince1970,
            claim.revocationDate?.millisecondsSince1970, moment.millisecondsSince1970, Data(claim.proofDigest),
        ])
    }

    private func insertEntitlement(_ claim: Claim, for user: User, at moment: Timestamp) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO entitlement (user, collection, number, origin, transaction_id, granted_at)
                VALUES (?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            user.name, claim.item.collection, claim.item.number, claim.origin.rawValue, claim.transactionIdentifier,
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
