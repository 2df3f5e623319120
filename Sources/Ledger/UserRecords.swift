import Commerce
import Foundation
import GRDB

/// The ledger's statements about users, inside a transaction that the caller holds.
struct UserRecords {
    let database: Database
    let randomness: Randomness

    /// A user's number in the ledger, given at first sight together with an account token.
    func identifier(of user: User, at moment: Timestamp) throws -> Int64 {
        if let known = try known(user) { return known }
        try insert(issuer: user.issuer, name: user.name, at: moment)
        return database.lastInsertedRowID
    }

    /// nil for a user the ledger has not seen.
    func known(_ user: User) throws -> Int64? {
        try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT user_id FROM user WHERE issuer = ? AND name = ?"),
            arguments: [user.issuer, user.name])
    }

    /// Each with the last transaction of each origin.
    func customers(after number: Int64, of origins: Set<Origin>, limit: Int) throws -> [Customer] {
        try SQLRequest<Row>(
            """
            SELECT user_id, issuer, name, transaction_id, max(sequence)
            FROM (SELECT * FROM user WHERE user_id > \(number) AND EXISTS (
                    SELECT * FROM redeemed_transaction AS bought WHERE bought.user_id = user.user_id AND bought.origin IN \(origins.map(\.rawValue)))
                ORDER BY user_id LIMIT \(limit)) JOIN redeemed_transaction USING (user_id)
            -- By the user's index, never by the origin's: nearly all are of one origin.
            WHERE +origin IN \(origins.map(\.rawValue))
            GROUP BY user_id, origin ORDER BY user_id
            """
        ).fetchAll(database).compactMap { row in
            User(issuer: row["issuer"], name: row["name"]).map {
                Customer(number: row["user_id"], user: $0, transactionIdentifier: row["transaction_id"])
            }
        }
    }

    /// Whose account token it is; nil when it is nobody's here.
    func owner(of token: UUID) throws -> Int64? {
        try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT user_id FROM user WHERE app_account_token = ?"),
            arguments: [token.lowercasedString])
    }

    func appAccountToken(of identifier: Int64) throws -> UUID? {
        let text = try String.fetchOne(
            database.cachedStatement(sql: "SELECT app_account_token FROM user WHERE user_id = ?"),
            arguments: [identifier])
        return text.flatMap(UUID.init(uuidString:))
    }

    /// Whether a user's account token may be in use, because somebody was told it or has set it.
    func isAppAccountTokenSettled(of identifier: Int64) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT is_app_account_token_settled FROM user WHERE user_id = ?"),
            arguments: [identifier]) ?? false
    }

    /// - Parameter token: nil for the one the user has.
    func settleAppAccountToken(_ token: UUID? = nil, of identifier: Int64) throws {
        try database.cachedStatement(
            sql: """
                UPDATE user
                SET app_account_token = coalesce(?, app_account_token), is_app_account_token_settled = 1
                WHERE user_id = ?
                """
        ).execute(arguments: [token?.lowercasedString, identifier])
    }

    /// With an account token that nobody knows yet.
    func insert(issuer: String, name: String, at moment: Timestamp) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO user (issuer, name, app_account_token, first_seen_at, is_app_account_token_settled)
                VALUES (?, ?, ?, ?, 0)
                """
        ).execute(arguments: [
            issuer, name, UUID(randomness: randomness).lowercasedString, moment.millisecondsSince1970,
        ])
    }
}
