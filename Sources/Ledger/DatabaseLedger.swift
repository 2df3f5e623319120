import Commerce
import Foundation

/// The ledger's use cases over a database's rows, whatever database that is.
public struct DatabaseLedger<Storage: LedgerStorage>: Ledger {
    let storage: Storage
    let randomness: Randomness

    /// - Parameter randomness: Chance for the account tokens of users, and the salts of erasable texts.
    public init(storage: Storage, randomness: Randomness) {
        self.storage = storage
        self.randomness = randomness
    }

    public var answersAtOnce: Bool { storage.answersAtOnce }

    public func together(_ useCases: [() -> Void]) -> [StorageFault?] {
        storage.together(useCases)
    }

    public func redeem(
        _ claims: [Claim],
        for user: User,
        under policy: OwnershipPolicy,
        counting origins: Set<Origin>,
        by actor: AuditActor,
        at moment: Timestamp
    ) throws(LedgerError) -> LedgerAnswer {
        let question = { (database: any LedgerDatabase) in
            let records = LedgerRecords(database: database, users: users(database), actor: actor)
            try database.prefetch([UserRecords.known(user)] + claims.prefix(1).flatMap(records.questions))
        }
        return try write(for: user, at: moment, after: question) { database, user in
            let records = LedgerRecords(database: database, users: users(database), actor: actor)
            let results = try claims.map { try records.record($0, for: user, under: policy, at: moment) }
            return LedgerAnswer(
                results: results,
                items: try ReadingRecords(database: database).items(of: user, counting: origins, at: moment))
        }
    }

    public func record(
        _ notification: NotificationRecord,
        stating claim: Claim?,
        accepting accepted: AcceptedOrigins,
        at moment: Timestamp
    ) throws(StorageFault) -> NotificationOutcome {
        try storage.write { database in
            let users = users(database)
            return try LedgerRecords(database: database, users: users, actor: .appStore)
                .record(notification, stating: claim, accepting: accepted, at: moment)
        }
    }

    public func record(
        _ claim: Claim,
        accepting accepted: AcceptedOrigins,
        at moment: Timestamp
    ) throws(StorageFault) -> NotificationOutcome {
        try storage.write { database in
            let users = users(database)
            return try LedgerRecords(database: database, users: users, actor: .appStore)
                .record(stating: claim, accepting: accepted, at: moment)
        }
    }

    public func items(
        of user: User,
        counting origins: Set<Origin>,
        at moment: Timestamp
    ) throws(StorageFault) -> [Item] {
        try storage.read { database in
            let users = users(database)
            guard let user = try users.known(user) else { return [] }
            return try ReadingRecords(database: database).items(of: user, counting: origins, at: moment)
        }
    }

    public func transactions(
        of user: User,
        before sequence: Int64?,
        limit: Int
    ) throws(StorageFault) -> [RedeemedTransaction] {
        try storage.read { database in
            let users = users(database)
            guard let user = try users.known(user) else { return [] }
            return try ReadingRecords(database: database)
                .transactions(of: user, before: sequence ?? .max, limit: limit)
        }
    }

    public func appAccountToken(of user: User, at moment: Timestamp) throws(LedgerError) -> UUID {
        let settled: UUID?
        do {
            settled = try storage.read { database in
                let users = users(database)
                guard let known = try users.known(user), try users.isAppAccountTokenSettled(of: known) else {
                    return nil
                }
                return try users.appAccountToken(of: known)
            }
        } catch {
            throw .storage(error)
        }
        if let settled { return settled }
        return try write(for: user, at: moment) { database, identifier in
            let users = users(database)
            guard let token = try users.appAccountToken(of: identifier) else { throw storage.damaged }
            if try !users.isAppAccountTokenSettled(of: identifier) { try users.settleAppAccountToken(of: identifier) }
            return token
        }
    }

    public func setAppAccountToken(
        _ token: UUID,
        of user: User,
        at moment: Timestamp
    ) throws(LedgerError) -> AppAccountTokenAnswer {
        let answer: AppAccountTokenAnswer?
        do {
            answer = try storage.write { database in
                let users = users(database)
                let known = try users.known(user)
                if let known, let present = try users.appAccountToken(of: known), present != token,
                    try users.isAppAccountTokenSettled(of: known)
                {
                    return .hasAnother(present)
                }
                // Before a new user gets a number: what is refused writes nothing.
                if let owner = try users.owner(of: token), owner != known { return .ofAnotherUser }
                guard let identifier = try users.identifier(of: user, at: moment) else { return nil }
                try users.settleAppAccountToken(token, of: identifier)
                return .set
            }
        } catch {
            throw .storage(error)
        }
        guard let answer else { throw .userUnknown }
        return answer
    }

    /// Writes for a user, who gets a number at first sight.
    ///
    /// - Parameter prepare: Runs before the user is looked up.
    func write<Value>(
        for user: User,
        at moment: Timestamp,
        after prepare: (any LedgerDatabase) throws -> Void = { _ in },
        _ body: (any LedgerDatabase, Int64) throws -> Value
    ) throws(LedgerError) -> Value {
        let value: Value?
        do {
            value = try storage.write { database in
                try prepare(database)
                guard let number = try users(database).identifier(of: user, at: moment) else { return nil }
                return try body(database, number)
            }
        } catch {
            throw .storage(error)
        }
        guard let value else { throw .userUnknown }
        return value
    }

    func users(_ database: any LedgerDatabase) -> UserRecords {
        UserRecords(database: database, randomness: randomness)
    }
}

/// The ledger in one SQLite file, which is the default.
public typealias SQLiteLedger = DatabaseLedger<SQLiteStorage>

extension SQLiteLedger {
    /// Opens the ledger, making it when there is none.
    ///
    /// - Parameter takesOver: Whether one of an earlier version becomes one of this.
    /// - Throws: `StorageFault`.
    public init(file: URL, randomness: Randomness = .system, takesOver: Bool = true) throws(StorageFault) {
        self.init(
            storage: try SQLiteStorage(file: file, randomness: randomness, takesOver: takesOver), randomness: randomness
        )
    }
}
