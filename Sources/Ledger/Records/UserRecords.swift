import Commerce
import Foundation

/// The ledger's statements about users, inside a transaction that the caller holds.
package struct UserRecords {
    let database: any LedgerDatabase
    let randomness: Randomness

    /// A user's number in the ledger, given at first sight together with an account token.
    ///
    /// - Returns: Nil for an account that was never opened, or has ended meanwhile: nobody can enter it, or what it would own.
    func identifier(of user: User, at moment: Timestamp) throws -> Int64? {
        if let known = try known(user) { return known }
        guard user.issuer != User.accountIssuer else { return nil }
        return try insert(user, at: moment)
    }

    /// The numbers of users, who are given one at first sight; none for an account that was never opened, or has ended.
    package func identifiers(of wanted: Set<User>, at moment: Timestamp) throws -> [User: Int64] {
        guard !wanted.isEmpty else { return [:] }
        var numbers = try known(wanted)
        let new = wanted.filter { numbers[$0] == nil && $0.issuer != User.accountIssuer }
        guard !new.isEmpty else { return numbers }
        try database.insert(
            into: #""user""#,
            [
                .text("issuer"), .text("name"), .text("app_account_token"), .integer("first_seen_at"),
                .integer("is_app_account_token_settled"),
            ],
            new.sorted { (ByteKey($0.issuer), ByteKey($0.name)) < (ByteKey($1.issuer), ByteKey($1.name)) }.map {
                [$0.issuer, $0.name, UUID(randomness: randomness), moment, 0]
            })
        numbers.merge(try known(new)) { $1 }
        return numbers
    }

    private func known(_ users: Set<User>) throws -> [User: Int64] {
        var numbers: [User: Int64] = [:]
        for row in try database.rows(knownUsers(users)) {
            guard let user = User(issuer: try row["issuer"], name: try row["name"]) else { continue }
            if users.contains(user) { numbers[user] = try row["user_id"] as Int64 }
        }
        return numbers
    }

    /// What `identifiers` asks for: users of these issuers with one of these names.
    package func knownUsers(_ users: Set<User>) -> SQLQuery {
        let issuers = Set(users.map { ByteKey($0.issuer) }).sorted().map(\.text)
        let names = Set(users.map { ByteKey($0.name) }).sorted().map(\.text)
        return SQLQuery(
            #"""
            SELECT user_id, issuer, name FROM "user"
            WHERE issuer \#(database.isIn("$1")) AND name \#(database.isIn("$2"))
            """#,
            [database.list(issuers), database.list(names)])
    }

    /// nil for a user the ledger has not seen.
    func known(_ user: User) throws -> Int64? {
        try database.value(Self.known(user))
    }

    /// What `known` asks for.
    package static func known(_ user: User) -> SQLQuery {
        SQLQuery(#"SELECT user_id FROM "user" WHERE issuer = $1 AND name = $2"#, [user.issuer, user.name])
    }

    /// The user of a number; nil for an unknown number, or a name that is none today.
    package func name(of identifier: Int64) throws -> User? {
        try database.row(SQLQuery(#"SELECT issuer, name FROM "user" WHERE user_id = $1"#, [identifier]))
            .flatMap { User(issuer: try $0["issuer"], name: try $0["name"]) }
    }

    /// Each with the last transaction of each origin.
    func customers(after number: Int64, of origins: Set<Origin>, limit: Int) throws -> [Customer] {
        // By the user's index, never by the origin's: nearly all are of one origin.
        let isOfOrigins = "coalesce(bought.origin, '') IN \(origins.sqlList)"
        return try database.rows(
            """
            SELECT * FROM (
                SELECT customer.user_id, issuer, name, transaction_id, row_number() OVER (
                    PARTITION BY customer.user_id, origin ORDER BY sequence DESC) AS age
                FROM (SELECT * FROM "user" WHERE user_id > $1 AND EXISTS (
                        SELECT * FROM redeemed_transaction AS bought
                        WHERE bought.user_id = "user".user_id AND \(isOfOrigins))
                    ORDER BY user_id LIMIT $2) AS customer
                JOIN redeemed_transaction AS bought ON bought.user_id = customer.user_id AND \(isOfOrigins)) AS bought
            WHERE age = 1 ORDER BY user_id
            """,
            [number, limit]
        ).compactMap { row in
            try User(issuer: try row["issuer"], name: try row["name"]).map {
                Customer(number: try row["user_id"], user: $0, transactionIdentifier: try row["transaction_id"])
            }
        }
    }

    /// Whose account token it is; nil when it is nobody's here.
    func owner(of token: UUID) throws -> Int64? {
        try database.value(#"SELECT user_id FROM "user" WHERE app_account_token = $1"#, [token])
    }

    func appAccountToken(of identifier: Int64) throws -> UUID? {
        try database.value(#"SELECT app_account_token FROM "user" WHERE user_id = $1"#, [identifier])
    }

    /// Whether a user's account token may be in use, because somebody was told it or has set it.
    func isAppAccountTokenSettled(of identifier: Int64) throws -> Bool {
        try database.value(#"SELECT is_app_account_token_settled FROM "user" WHERE user_id = $1"#, [identifier])
            ?? false
    }

    /// - Parameter token: nil for the one the user has.
    func settleAppAccountToken(_ token: UUID? = nil, of identifier: Int64) throws {
        try database.execute(
            """
            UPDATE "user" SET app_account_token = coalesce($1, app_account_token), is_app_account_token_settled = 1
            WHERE user_id = $2
            """,
            [token, identifier])
    }

    /// With an account token that nobody knows yet.
    func insert(_ user: User, at moment: Timestamp) throws -> Int64 {
        let token = UUID(randomness: randomness)
        let identifier: Int64? = try database.value(
            """
            INSERT INTO "user" (issuer, name, app_account_token, first_seen_at, is_app_account_token_settled)
            VALUES ($1, $2, $3, $4, 0) RETURNING user_id
            """,
            [user.issuer, user.name, token, moment])
        guard let identifier else { throw SQLRow.Mismatch(column: "user_id") }
        return identifier
    }
}

extension Set<Origin> {
    /// In parentheses, for `IN`; always in the same order, so that the same origins make the same statement.
    var sqlList: String {
        "(" + map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ") + ")"
    }
}
