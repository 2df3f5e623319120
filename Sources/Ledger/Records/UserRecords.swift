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
        return try insert([user], at: moment)[user]
    }

    /// The numbers of users, who are given one at first sight; none for an account that was never opened, or has ended.
    package func identifiers(of wanted: Set<User>, at moment: Timestamp) throws -> [User: Int64] {
        guard !wanted.isEmpty else { return [:] }
        var numbers: [User: Int64] = [:]
        for row in try database.rows(knownUsers(wanted)) {
            guard let user = User(issuer: try row["issuer"], name: try row["name"]) else { continue }
            if wanted.contains(user) { numbers[user] = try row["user_id"] as Int64 }
        }
        let new = wanted.filter { numbers[$0] == nil && $0.issuer != User.accountIssuer }
        guard !new.isEmpty else { return numbers }
        return numbers.merging(try insert(new.sorted { $0.key.lexicographicallyPrecedes($1.key) }, at: moment)) { $1 }
    }

    /// Gives new users their numbers, and account tokens that nobody knows yet.
    package func insert(_ users: [User], at moment: Timestamp) throws -> [User: Int64] {
        let (head, tokens) = (UserHead.first, users.map { _ in UUID(randomness: randomness) })
        let numbers = try database.insertUsers(
            [
                "issuer", "name", "app_account_token", "is_app_account_token_settled", "accepts_any_spelling",
                "first_seen_at", "version", "last_transaction", "last_grant", "audit_number", "audit_digest",
            ],
            zip(users, tokens).map { user, token in
                [
                    user.issuer, user.name, token, false, false, moment, head.version, head.lastTransaction,
                    head.lastGrant,
                    head.auditNumber, head.auditDigest,
                ]
            },
            randomness)
        try database.insert(
            into: "user_name", ["name", "issuer", "user_id"],
            zip(users, numbers).map { [$0.name, $0.issuer, $1] })
        try database.insert(
            into: "account_token", ["app_account_token", "user_id"],
            zip(tokens, numbers).sorted { $0.0.lowercasedString < $1.0.lowercasedString }.map { [$0, $1] })
        return Dictionary(uniqueKeysWithValues: zip(users, numbers))
    }

    /// What `identifiers` asks for: users of these issuers with one of these names.
    package func knownUsers(_ users: Set<User>) -> SQLQuery {
        let issuers = Set(users.map { ByteKey($0.issuer) }).sorted().map(\.text)
        let names = Set(users.map { ByteKey($0.name) }).sorted().map(\.text)
        return SQLQuery(
            """
            SELECT user_id, issuer, name FROM user_name
            WHERE name \(database.isIn("$1")) AND issuer \(database.isIn("$2"))
            """,
            [database.list(names), database.list(issuers)])
    }

    /// nil for a user the ledger has not seen.
    package func known(_ user: User) throws -> Int64? {
        try database.value(Self.known(user))
    }

    /// What `known` asks for.
    package static func known(_ user: User) -> SQLQuery {
        SQLQuery("SELECT user_id FROM user_name WHERE name = $1 AND issuer = $2", [user.name, user.issuer])
    }

    /// The users of numbers, except those whose name is none today.
    package func names(of identifiers: Set<Int64>) throws -> [Int64: User] {
        var names: [Int64: User] = [:]
        let rows = try database.rows(
            """
            SELECT user_id, issuer, name FROM \(database.listed("$1")) JOIN "user" ON user_id = listed.value
            """,
            [database.list(identifiers.sorted())])
        for row in rows { names[try row["user_id"]] = User(issuer: try row["issuer"], name: try row["name"]) }
        return names
    }

    /// Whose account token it is; nil when it is nobody's here.
    func owner(of token: UUID) throws -> Int64? {
        try database.value("SELECT user_id FROM account_token WHERE app_account_token = $1", [token])
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
        if let token, let old = try appAccountToken(of: identifier), old != token {
            try database.delete(from: "account_token", where: ["app_account_token"], [[old]])
            try database.insert(into: "account_token", ["app_account_token", "user_id"], [[token, identifier]])
        }
        try database.execute(
            """
            UPDATE "user" SET app_account_token = coalesce($1, app_account_token), is_app_account_token_settled = 1
            WHERE user_id = $2
            """,
            [token, identifier])
    }

    /// Replaces a user's name.
    func rename(_ identifier: Int64, from old: User, to issuer: String, _ name: String) throws {
        try database.delete(from: "user_name", where: ["name", "issuer"], [[old.name, old.issuer]])
        try database.insert(into: "user_name", ["name", "issuer", "user_id"], [[name, issuer, identifier]])
        try database.execute(
            """
            UPDATE "user" SET issuer = $1, name = $2, accepts_any_spelling = 0 WHERE user_id = $3
            """,
            [issuer, name, identifier])
    }

    package func heads(of users: Set<Int64>) throws -> [Int64: UserHead] {
        guard !users.isEmpty else { return [:] }
        var heads: [Int64: UserHead] = [:]
        let rows = try database.rows(
            """
            SELECT user_id, version, last_transaction, last_grant, audit_number, audit_digest, issuer
            FROM \(database.listed("$1")) JOIN "user" ON user_id = listed.value
            """,
            [database.list(users.sorted())])
        for row in rows { heads[try row["user_id"]] = try UserHead(row) }
        return heads
    }

    /// Writes the heads that were read. If one has another version by now, this fails as a conflict.
    package func write(_ heads: [Int64: UserHead]) throws {
        try database.update(
            "user", set: ["last_transaction", "last_grant", "audit_number", "audit_digest"], where: ["user_id"],
            counting: "version",
            // In the order of their keys, so that two groups do not wait for each other.
            heads.sorted { $0.key < $1.key }.map { user, head in
                [head.lastTransaction, head.lastGrant, head.auditNumber, head.auditDigest, user, head.version]
            })
        guard !heads.isEmpty else { return }
        for feature in database.tables.schema.features where feature.isUsed {
            try feature.writeFollower?(heads, database)
        }
    }
}

extension User {
    /// The order of the keys of names.
    fileprivate var key: [ByteKey] { [ByteKey(name), ByteKey(issuer)] }
}

extension Set<Origin> {
    /// In parentheses, for `IN`; always in the same order, so that the same origins make the same statement.
    package var sqlList: String {
        "(" + map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ") + ")"
    }
}
