import Foundation
import Proofs
import Vocabulary

/// The statements on users, inside the caller's transaction.
package struct UserRecords {
    let database: any LedgerDatabase
    let randomness: Randomness

    /// The numbers of the users whom the ledger knows.
    package func known(among wanted: Set<User>) throws -> [User: Int64] {
        guard !wanted.isEmpty else { return [:] }
        let query = knownUsers(wanted)
        return try database.dictionary(query.sql, query.arguments) { row in
            guard let user = try User(&row), wanted.contains(user) else { return nil }
            return (user, try row.next())
        }
    }

    /// Gives unknown users their numbers. An account that was never opened, or was erased, gets none.
    package func add(_ users: Set<User>, at moment: Timestamp) throws -> [User: Int64] {
        let new = users.filter { $0.issuer != User.accountIssuer }
        guard !new.isEmpty else { return [:] }
        return try insert(new.sorted { $0.key.lexicographicallyPrecedes($1.key) }, at: moment)
    }

    /// Adds new users with their numbers and new account tokens.
    package func insert(_ users: [User], at moment: Timestamp) throws -> [User: Int64] {
        let (head, tokens) = (UserHead.first, users.map { _ in UUID(randomness: randomness) })
        let numbers = try database.insertUsers(
            [
                "issuer", "name", "app_account_token", "is_app_account_token_settled", "first_seen_at", "version",
                "last_transaction", "last_grant", "audit_number", "audit_digest",
            ],
            zip(users, tokens).map { user, token in
                [
                    user.issuer, user.name, token, false, moment, head.version, head.lastTransaction, head.lastGrant,
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

    /// The query of `known(among:)`, for at least one user.
    package func knownUsers(_ users: Set<User>) -> SQLQuery {
        let rows = database.keyedRows(
            of: "user_name", where: ["name", "issuer"], SQLKeys(texts: users.map { [$0.name, $0.issuer] }))
        return SQLQuery("SELECT issuer, name, user_id FROM \(rows.source) WHERE \(rows.condition)", rows.arguments)
    }

    /// The number of a user; nil for a user that the ledger does not know.
    package func known(_ user: User) throws -> Int64? {
        try database.row(Self.knownUser, [user.name, user.issuer]) { try $0.next() }
    }

    package static func known(_ user: User) -> SQLQuery { SQLQuery(knownUser, [user.name, user.issuer]) }

    private static let knownUser = "SELECT user_id FROM user_name WHERE name = $1 AND issuer = $2"

    /// The first issuers under which users of a name are known, in order. A customer of an app has the name of the app's id.
    package func issuers(ofName name: String) throws -> [String] {
        var issuers: [String] = try database.rows(
            "SELECT issuer FROM user_name WHERE name = $1 AND issuer <> $2 ORDER BY issuer LIMIT 10",
            [name, User.erasedIssuer]
        ) { try $0.next() }
        if let customer = CustomerIdentifier(name)?.user, !issuers.contains(customer.issuer),
            try known(customer) != nil
        {
            issuers.append(customer.issuer)
        }
        return issuers
    }

    package func names(of identifiers: Set<Int64>) throws -> [Int64: User] {
        try database.dictionary(
            #"SELECT user_id, issuer, name FROM "user" WHERE user_id \#(database.isIn(numbers: "$1"))"#,
            [database.list(identifiers.sorted())]
        ) { row in
            let number: Int64 = try row.next()
            return try User(&row).map { (number, $0) }
        }
    }

    /// The owner of an account token; nil if no user has it.
    package func owner(of token: UUID) throws -> Int64? {
        try database.value("SELECT user_id FROM account_token WHERE app_account_token = $1", [token])
    }

    /// A user's account token. It is settled if it may be in use, because the service returned it or the team set it.
    func appAccountToken(of identifier: Int64) throws -> (token: UUID, isSettled: Bool)? {
        try database.row(
            #"SELECT app_account_token, is_app_account_token_settled FROM "user" WHERE user_id = $1"#, [identifier]
        ) { (try $0.next(), try $0.next()) }
    }

    /// Marks a user's account token as in use.
    func settleAppAccountToken(of identifier: Int64) throws {
        try database.execute(#"UPDATE "user" SET is_app_account_token_settled = 1 WHERE user_id = $1"#, [identifier])
    }

    /// Gives a user an account token that no other user has. The former token stays as an alias if it was in use.
    func settleAppAccountToken(_ token: UUID, of identifier: Int64, at moment: Timestamp) throws {
        if let old = try appAccountToken(of: identifier), old.token != token {
            // The new token may be that of a user who was merged into this one.
            try deleteToken(token, of: identifier)
            if old.isSettled {
                try addTokenAlias(old.token, of: identifier, at: moment)
            } else {
                try database.delete(from: "account_token", where: ["app_account_token"], [[old.token]])
            }
            try database.insert(into: "account_token", ["app_account_token", "user_id"], [[token, identifier]])
            try database.update("user", set: ["app_account_token"], where: ["user_id"], [[token, identifier]])
        }
        try settleAppAccountToken(of: identifier)
    }

    /// Removes an account token from a user. If it is the user's own, the user gets a new one.
    func takeAppAccountToken(_ token: UUID, from identifier: Int64) throws {
        try deleteToken(token, of: identifier)
        guard try appAccountToken(of: identifier)?.token == token else { return }
        let new = UUID(randomness: randomness)
        try database.insert(into: "account_token", ["app_account_token", "user_id"], [[new, identifier]])
        try database.update(
            "user", set: ["app_account_token", "is_app_account_token_settled"], where: ["user_id"],
            [[new, false, identifier]])
    }

    private func deleteToken(_ token: UUID, of identifier: Int64) throws {
        try database.delete(from: "account_token", where: ["app_account_token"], [[token]])
        try database.delete(
            from: "account_token_alias", where: ["user_id", "app_account_token"], [[identifier, token]])
    }

    /// Notes that a token that leads to a user is not the user's own any more.
    func addTokenAlias(_ token: UUID, of identifier: Int64, at moment: Timestamp) throws {
        try database.insert(
            into: "account_token_alias", ["user_id", "app_account_token", "aliased_at"], [[identifier, token, moment]])
    }

    package func rename(_ identifier: Int64, from old: User, to issuer: String, _ name: String) throws {
        try database.delete(from: "user_name", where: ["name", "issuer"], [[old.name, old.issuer]])
        try database.insert(into: "user_name", ["name", "issuer", "user_id"], [[name, issuer, identifier]])
        try database.execute(
            #"UPDATE "user" SET issuer = $1, name = $2 WHERE user_id = $3"#, [issuer, name, identifier])
    }

    func setErased(_ identifier: Int64, at moment: Timestamp) throws {
        try database.execute(#"UPDATE "user" SET erased_at = $1 WHERE user_id = $2"#, [moment, identifier])
    }

    /// The times at which users were erased, without the others.
    package func erased(among identifiers: Set<Int64>) throws -> [Int64: Timestamp] {
        guard !identifiers.isEmpty else { return [:] }
        return try database.dictionary(
            #"SELECT user_id, erased_at FROM "user" WHERE user_id \#(database.isIn(numbers: "$1")) AND erased_at IS NOT NULL"#,
            [database.list(identifiers.sorted())]
        ) { (try $0.next(), try $0.next()) }
    }

    package func heads(of users: Set<Int64>) throws -> [Int64: UserHead] {
        guard !users.isEmpty else { return [:] }
        let query = queryOfHeads(users)
        return try database.dictionary(query.sql, query.arguments) { (try $0.next(), try UserHead(&$0)) }
    }

    func queryOfHeads(_ users: Set<Int64>) -> SQLQuery {
        SQLQuery(
            """
            SELECT user_id, version, last_transaction, last_grant, audit_number, audit_digest, issuer
            FROM "user" WHERE user_id \(database.isIn(numbers: "$1"))
            """,
            [database.list(users.sorted())])
    }

    /// Writes heads. It fails as a conflict if a head has another version than when it was read.
    package func write(_ heads: [Int64: UserHead]) throws {
        try database.update(
            "user", set: ["last_transaction", "last_grant", "audit_number", "audit_digest"], where: ["user_id"],
            incrementing: "version",
            // The order of the keys avoids deadlocks between groups.
            heads.sorted { $0.key < $1.key }.map { user, head in
                [head.lastTransaction, head.lastGrant, head.auditNumber, head.auditDigest, user, head.version]
            })
        guard !heads.isEmpty else { return }
        for feature in database.tables.schema.features where feature.isUsed {
            try feature.writeHook?(heads, database)
        }
    }
}

extension User {
    fileprivate var key: [ByteKey] { [ByteKey(name), ByteKey(issuer)] }

    /// The user in the next columns: the issuer and the name.
    ///
    /// - Returns: Nil for an invalid name.
    package init?(_ row: inout ResultRow) throws(ColumnMismatch) {
        self.init(issuer: try row.next(), name: try row.next())
    }
}

/// The statements on aliases: names that lead to a user whose own name is another.
///
/// An alias is among all names, too, whose primary key makes two users of one name impossible.
extension UserRecords {
    /// The largest number of aliases of a user. Anybody with an app can log in as a known customer.
    package static var maximumAliases: Int { 50 }

    /// The number of aliases that a user may still get.
    package func aliasesLeft(of user: Int64) throws -> Int {
        let count: Int = try database.single("SELECT count(*) FROM user_alias WHERE user_id = $1", [user])
        return max(0, Self.maximumAliases - count)
    }

    package func addAlias(_ alias: User, of user: Int64, at moment: Timestamp) throws {
        try database.insert(
            into: "user_name", ["name", "issuer", "user_id"], [[alias.name, alias.issuer, user]])
        try database.insert(
            into: "user_alias", ["user_id", "name", "issuer", "aliased_at"],
            [[user, alias.name, alias.issuer, moment]])
    }

    /// Adds an alias. If the user has as many as possible, the oldest ones lead to nobody from then on.
    package func addNewestAlias(_ alias: User, of user: Int64, at moment: Timestamp) throws {
        let aliases = try database.rows(
            """
            SELECT name, issuer FROM user_alias WHERE user_id = $1 ORDER BY aliased_at DESC, name, issuer
            """,
            [user]
        ) { try $0.rest() }
        let former = Array(aliases.dropFirst(Self.maximumAliases - 1))
        try database.delete(from: "user_name", where: ["name", "issuer"], former)
        try database.delete(from: "user_alias", where: ["user_id", "name", "issuer"], former.map { [user] + $0 })
        try addAlias(alias, of: user, at: moment)
    }

    /// The aliases of a user, in the order of their times and names.
    package func aliases(of user: Int64, limit: Int) throws -> [User] {
        try database.rows(
            """
            SELECT issuer, name FROM user_alias WHERE user_id = $1 ORDER BY aliased_at, name, issuer LIMIT $2
            """,
            [user, limit]
        ) { try User(&$0) }.compactMap(\.self)
    }

    func formers(of user: Int64) throws -> [Int64] {
        try database.rows("SELECT former_id FROM user_merge WHERE user_id = $1 ORDER BY former_id", [user]) {
            try $0.next()
        }
    }

    /// The users into which others were merged, by the numbers of the others.
    package func successors(of formers: Set<Int64>) throws -> [Int64: User] {
        guard !formers.isEmpty else { return [:] }
        let numbers: [Int64: Int64] = try database.dictionary(
            "SELECT former_id, user_id FROM user_merge WHERE former_id \(database.isIn(numbers: "$1"))",
            [database.list(formers.sorted())]
        ) { (try $0.next(), try $0.next()) }
        let names = try names(of: Set(numbers.values))
        return numbers.compactMapValues { names[$0] }
    }
}

/// The last numbers of a user's transactions, grants and audit records, and the digest of the last audit record.
///
/// The ledger writes a head only if no other writer has written it since it was read.
package struct UserHead {
    /// The number of writes for the user.
    let version: Int64
    /// The number of writes for the user after this head is written.
    package var nextVersion: Int64 { version + 1 }
    package var lastTransaction: Int64
    package var lastGrant: Int64
    package var auditNumber: Int64
    var auditDigest: [UInt8]
    let isErased: Bool

    package static let first = UserHead(
        version: 0, lastTransaction: 0, lastGrant: 0, auditNumber: 0, auditDigest: AuditRecord.beginning,
        isErased: false)
}

extension UserHead {
    init(_ row: inout ResultRow) throws(ColumnMismatch) {
        self.init(
            version: try row.next(), lastTransaction: try row.next(), lastGrant: try row.next(),
            auditNumber: try row.next(), auditDigest: try row.next(),
            isErased: (try row.next() as String) == User.erasedIssuer)
    }
}
