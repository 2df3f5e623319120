import Foundation
import Proofs

/// A transaction of the ledger, with the operations of a use case.
///
/// It is valid only inside the call of `Ledger.read` or `Ledger.write` that passes it.
package struct LedgerTransaction {
    package let database: any LedgerDatabase
    /// A source of random bytes for account tokens, tombstones and the salts of erasable texts.
    package let randomness: Randomness
    /// The fault of a ledger that lacks a row just written.
    package let damaged: StorageFault
    /// The names that stand for no user.
    package let blockedNames: BlockedNames
    package let numbers: UserNumbers

    package var users: UserRecords { UserRecords(database: database, randomness: randomness) }

    package var audit: AuditRecords { AuditRecords(database: database, randomness: randomness) }

    package var answers: AnswerRecords { database.answers }

    package var events: EventRecords { database.events }

    /// The number of a user. A new user gets one.
    ///
    /// - Throws: `LedgerError.userBlocked`; `LedgerError.userUnknown` if the account was never opened, or was erased.
    package func number(of user: User, at moment: Timestamp) throws -> Int64 {
        try requireName(of: user)
        if let known = try users.known(user) { return known }
        guard let number = try users.add([user], at: moment)[user] else { throw LedgerError.userUnknown }
        return number
    }

    /// - Throws: `LedgerError.userBlocked` if the user's name stands for no user.
    package func requireName(of user: User) throws(LedgerError) {
        guard !blockedNames.contains(user) else { throw .userBlocked }
    }
}

extension LedgerTransaction {
    /// The records of a user's audit log, oldest first.
    ///
    /// - Parameters:
    ///   - number: The number of the record before the first one to return; 0 for all records.
    ///   - limit: The largest number of records to return.
    package func audit(of user: User, after number: Int64, limit: Int) throws -> [AuditRecord] {
        guard let user = try users.known(user) else { return [] }
        return try audit.records(of: user, after: number, limit: limit)
    }

    /// The whole audit log of a user, with the logs of the users who were merged into the user, in the order of time.
    package func auditWithMerged(of user: User) throws -> [AuditRecord] {
        guard let user = try users.known(user) else { return [] }
        return try (users.formers(of: user) + [user]).flatMap { try audit.records(of: $0, after: 0, limit: .max) }
            .enumerated().sorted { ($0.element.entry.happenedAt, $0.offset) < ($1.element.entry.happenedAt, $1.offset) }
            .map(\.element)
    }

    /// Assigns a number to an app, unless it has one.
    package func register(app bundleIdentifier: String) throws {
        _ = try database.apps.numbers(of: [bundleIdentifier])
    }

    /// The apps whose rows a query returns.
    package struct RequestedApp {
        /// Nil for all apps.
        package let number: Int64?

        /// - Parameters:
        ///   - bundleIdentifier: Nil for all apps.
        ///   - apps: The bundle identifiers of all apps, by their numbers.
        /// - Returns: Nil for an app that the ledger does not know.
        package init?(_ bundleIdentifier: String?, among apps: [Int64: String]) {
            guard let bundleIdentifier else {
                number = nil
                return
            }
            guard let app = apps.first(where: { $0.value.hasSameBytes(as: bundleIdentifier) }) else { return nil }
            number = app.key
        }
    }

    /// The number of an app.
    ///
    /// - Parameter bundleIdentifier: Nil for all apps.
    /// - Returns: Nil for an app that the ledger does not know.
    package func number(ofApp bundleIdentifier: String?) throws -> RequestedApp? {
        RequestedApp(bundleIdentifier, among: bundleIdentifier == nil ? [:] : try database.apps.names())
    }

    /// The time of a user's first request and the user's account token, even if it was never returned. Nil for an unknown user.
    package func knownUser(_ user: User) throws -> (firstSeenAt: Timestamp, appAccountToken: UUID)? {
        guard let number = try users.known(user) else { return nil }
        return try database.row(#"SELECT first_seen_at, app_account_token FROM "user" WHERE user_id = $1"#, [number]) {
            (try $0.next(), try $0.next())
        }
    }

    /// The first users and aliases whose names are blocked, in the order of the names. It reads names up to the last of them.
    package func blockedUsers(limit: Int) throws -> [User] {
        var (users, last) = ([User](), (name: "", issuer: ""))
        while users.count < limit {
            let page = try database.rows(
                """
                SELECT name, issuer FROM user_name WHERE (name, issuer) > ($1, $2) ORDER BY name, issuer LIMIT 1000
                """,
                [last.name, last.issuer]
            ) { row -> (name: String, issuer: String) in (try row.next(), try row.next()) }
            guard let end = page.last else { break }
            users += page.compactMap { User(issuer: $0.issuer, name: $0.name) }.filter(blockedNames.contains)
            last = end
        }
        return Array(users.prefix(limit))
    }

    /// Keeps an answer unless another process has kept one under its key that is not older than a moment.
    ///
    /// - Parameter user: The user that the answer is about. The user's erasure deletes it.
    /// - Returns: The answer that was kept before; nil if this one is kept.
    package func earlierAnswer(
        orKeeping answer: KeptAnswer, about user: Int64?, at moment: Timestamp, deletingBefore oldest: Timestamp
    ) throws -> KeptAnswer? {
        if try answers.keep(answer, about: user, at: moment, deletingBefore: oldest) { return nil }
        guard let kept = try answers.answer(for: answer.key, since: oldest) else { throw damaged }
        return kept
    }

    /// Keeps a refusal like `earlierAnswer`, also about a user whom the ledger does not know. An account that was erased
    /// meanwhile gets none.
    ///
    /// - Returns: The answer kept under the key; the refusal if none may be kept.
    package func keep(
        _ refusal: KeptAnswer, about user: User, at moment: Timestamp, deletingBefore oldest: Timestamp
    ) throws -> KeptAnswer {
        let known = try users.known(user)
        guard known != nil || user.issuer != User.accountIssuer else { return refusal }
        return try earlierAnswer(orKeeping: refusal, about: known, at: moment, deletingBefore: oldest)
            ?? refusal
    }

    /// The token that a user's app puts into its purchases (StoreKit's `appAccountToken`). Nil before `makeAppAccountToken`.
    package func appAccountToken(of user: User) throws -> UUID? {
        guard let user = try users.known(user), let token = try users.appAccountToken(of: user), token.isSettled
        else { return nil }
        return token.token
    }

    /// Returns the token that a user's app puts into its purchases, and adds the user if the ledger does not know them.
    package func makeAppAccountToken(of user: User, at moment: Timestamp) throws -> UUID {
        let user = try number(of: user, at: moment)
        guard let token = try users.appAccountToken(of: user) else { throw damaged }
        if !token.isSettled { try users.settleAppAccountToken(of: user) }
        return token.token
    }

    /// The user of an account token, compared with given users.
    package enum TokenOwner: Hashable, Sendable {
        case nobody
        case given
        case other
    }

    /// Returns the relation of an account token's user to some users, each named by any id.
    package func owner(ofAppAccountToken token: UUID, among given: [User]) throws -> TokenOwner {
        guard let owner = try users.owner(of: token) else { return .nobody }
        return try given.contains { try users.known($0) == owner } ? .given : .other
    }

    /// Sets the account token that the team generated for a user, unless the user has one.
    ///
    /// - Parameter isCorrection: True to set it in any case. A former token of the user still leads to the user. The token of
    ///   another user is taken from that user.
    package func setAppAccountToken(
        _ token: UUID, of user: User, isCorrection: Bool = false, at moment: Timestamp
    ) throws -> AppAccountTokenAnswer {
        let (known, owner) = (try users.known(user), try users.owner(of: token))
        if !isCorrection {
            if let known, let present = try users.appAccountToken(of: known), present.token != token, present.isSettled
            {
                return .hasAnother(present.token)
            }
            // This check precedes the new user's number: a refusal writes nothing.
            if let owner, owner != known { return .ofAnotherUser }
        }
        let number = try number(of: user, at: moment)
        if let owner, owner != number { try users.takeAppAccountToken(token, from: owner) }
        try users.settleAppAccountToken(token, of: number, at: moment)
        return .set
    }

    package func add(_ key: APIKeyRecord) throws {
        _ = try database.execute(
            """
            INSERT INTO api_key (\(APIKeyRecord.columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            """,
            key.sqlValues)
    }

    /// All API keys, revoked ones included, oldest first.
    package func apiKeys() throws -> [APIKeyRecord] {
        try database.rows("SELECT \(APIKeyRecord.columns) FROM api_key ORDER BY created_at, key_id") {
            try APIKeyRecord(&$0)
        }
    }

    package func apiKey(_ identifier: String) throws -> APIKeyRecord? {
        try database.row("SELECT \(APIKeyRecord.columns) FROM api_key WHERE key_id = $1", [identifier]) {
            try APIKeyRecord(&$0)
        }
    }

    /// The names of all API keys by their identifiers, those of revoked keys included.
    package func apiKeyNames() throws -> [String: String] {
        try database.dictionary("SELECT key_id, name FROM api_key") { (try $0.next(), try $0.next()) }
    }

    /// Records the last use of a key, unless a later one is recorded.
    package func recordUse(ofAPIKey identifier: String, at moment: Timestamp) throws {
        _ = try database.execute(
            "UPDATE api_key SET last_used_at = $1 WHERE key_id = $2 AND coalesce(last_used_at, 0) < $3",
            [moment, identifier, moment])
    }

    /// Revokes a key. A key that was revoked before stays as it is.
    ///
    /// - Returns: False if there is no such key.
    package func revokeAPIKey(_ identifier: String, at moment: Timestamp) throws -> Bool {
        try database.execute(
            "UPDATE api_key SET revoked_at = coalesce(revoked_at, $1) WHERE key_id = $2", [moment, identifier]) == 1
    }

    /// Erases a user's name and the rows that the tables mark for erasure.
    ///
    /// Redeemed transactions stay redeemed: a tombstone with a random name owns them, so that nobody can redeem their proofs
    /// again. The hash chain of the audit log stays, too.
    ///
    /// - Returns: False if the ledger does not know the user.
    package func erase(_ user: User, by actor: AuditActor, at moment: Timestamp) throws -> Bool {
        // Answers for a user without a number have no user ID.
        try database.execute(
            "DELETE FROM kept_answer WHERE caller = $1 AND user_id IS NULL", [IdempotencyKey.caller(user)])
        guard let user = try users.known(user) else { return false }
        // The given name may be an alias.
        guard let own = try users.names(of: [user])[user] else { throw damaged }
        let tables = try database.describedTables()
        for table in tables {
            for holder in tables where holder.isErased && [table.owner?.table, table.aliases].contains(holder.name) {
                try eraseKeys(in: table, thatHas: holder, of: user)
            }
        }
        // Referencing rows are deleted before the rows that they refer to. Users who were merged into this one have an audit log.
        for number in [user] + (try users.formers(of: user)) {
            for table in tables.reversed() {
                guard let sql = table.erasureOfUser else { continue }
                try database.execute(sql, [number])
            }
        }
        let name = randomness.bytes(16).hexadecimal
        try users.rename(user, from: own, to: User.erasedIssuer, name)
        try audit.append(
            AuditEntry(
                happenedAt: moment, event: .erased, actor: actor, origin: nil, reference: name, subject: "user",
                reason: nil),
            to: user)
        return true
    }

    /// Erases a user's rows of a global key, whose keys another table has, too.
    private func eraseKeys(in table: Table, thatHas holder: Table, of user: Int64) throws {
        let columns = table.key.joined(separator: ", ")
        let keys = try database.rows("SELECT \(columns) FROM \(holder.quotedName) WHERE user_id = $1", [user]) {
            try $0.rest()
        }
        try database.delete(from: table.name, where: table.key, keys)
    }
}

extension Table {
    fileprivate var isErased: Bool { if case .deletion = erasure { true } else { false } }

    /// The statement that erases a user's rows; nil if they stay.
    fileprivate var erasureOfUser: String? {
        switch erasure {
        case .deletion: "DELETE FROM \(quotedName) WHERE user_id = $1"
        case .update(let values, let condition):
            "UPDATE \(quotedName) SET \(values) WHERE user_id = $1 AND (\(condition))"
        case nil: nil
        }
    }
}

extension LedgerTransaction {
    /// Returns true if the database orders text by bytes, as the comparison of products needs.
    ///
    /// A PostgreSQL database does so if its locale is C.
    package func ordersTextByBytes() throws -> Bool {
        // No user has this name. The aggregate gives the comparison the collation of the column.
        let isOrdered: Int64? = try database.value(
            """
            SELECT CASE WHEN coalesce(min(name), 'Z') < 'a' THEN 1 ELSE 0 END FROM user_name
            WHERE name = '' AND issuer = ''
            """,
            [])
        return isOrdered == 1
    }
}

/// An idempotency key, and the caller that sent it (`Idempotency-Key`).
package struct IdempotencyKey: Hashable, Sendable {
    /// The caller that sent the key. Two callers may use the same key.
    package let caller: String
    package let key: String

    package init(caller: String, key: String) {
        self.caller = caller
        self.key = key
    }

    /// The answer to keep under the key.
    ///
    /// - Parameter digest: The SHA-256 of the request.
    package func answer(_ bytes: [UInt8], to digest: [UInt8]) -> KeptAnswer {
        KeptAnswer(key: self, requestDigest: digest, bytes: bytes)
    }

    /// The caller name of a user's app. It contains a space, and no API key's name does.
    package static func caller(_ user: User) -> String { "\(user.issuer) \(user.name)" }
}

/// An answer that the ledger keeps for a retry of the same request.
package struct KeptAnswer: Hashable, Sendable {
    package let key: IdempotencyKey
    /// The SHA-256 of the request. It detects a different request under the same key.
    package let requestDigest: [UInt8]
    package let bytes: [UInt8]
}

/// The result of setting an account token.
package enum AppAccountTokenAnswer: Hashable, Sendable {
    /// The user has the token now, or had it before.
    case set
    /// The user has another token, which purchases may name already.
    case hasAnother(UUID)
    /// The token is another user's.
    case ofAnotherUser
}
