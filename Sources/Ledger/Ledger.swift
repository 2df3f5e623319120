import Commerce
import Foundation

/// The durable record of who redeemed which transaction and owns what because of it, in a SQLite file or in PostgreSQL.
///
/// Each call is one use case: all of it is recorded or none, and it is durable when the call returns. The ledger promises:
/// - a transaction, and the original transaction that it belongs to, has one owner at a time;
/// - two calls at once end as if one had come after the other.
public struct Ledger: Sendable {
    let storage: any LedgerStorage
    let randomness: Randomness

    /// - Parameter randomness: Chance for the account tokens of users, and the salts of erasable texts.
    package init(storage: any LedgerStorage, randomness: Randomness) {
        self.storage = storage
        self.randomness = randomness
    }

    /// Whether a question is answered sooner than another thread could be asked for it, with a disk that is well.
    public var answersAtOnce: Bool { storage.answersAtOnce }

    /// Runs use cases in order, and in one commit where nothing stands against it: each call of theirs is whole or leaves no
    /// trace, and is durable when this returns.
    ///
    /// - Parameter useCases: Each calls this ledger, on the thread it is called on, and keeps its own result. One may be run
    ///   again; then its last result counts.
    /// - Returns: For each, why nothing of it was recorded, or nobody knows, whatever it has kept; nil where it counts.
    public func together(_ useCases: [() -> Void]) -> [StorageFault?] {
        storage.together(useCases)
    }

    /// The fault of a ledger in which something just written is not there.
    package var damaged: StorageFault { storage.damaged }

    /// Reads as of one moment; never waits for what writes.
    package func read<Value>(_ body: (any LedgerDatabase) throws -> Value) throws(StorageFault) -> Value {
        try storage.read(body)
    }

    /// Writes all of `body` in one commit that is durable when this returns, or nothing.
    package func write<Value>(_ body: (any LedgerDatabase) throws -> Value) throws(StorageFault) -> Value {
        try storage.write(body)
    }

    /// What a user owns at a moment, by redeemed transactions of some origins and grants that stand, each item once, in order.
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

    /// A user's redeemed transactions, newest first.
    ///
    /// - Parameters:
    ///   - sequence: Only those older than the one with this number; nil for all. What is redeemed meanwhile moves nothing.
    ///   - limit: At most so many.
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

    /// The token a user's app puts into its purchases (StoreKit's `appAccountToken`), made at first sight.
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

    /// Gives a user an account token that somebody else has made, unless the user has one.
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
    package func write<Value>(
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

    package func users(_ database: any LedgerDatabase) -> UserRecords {
        UserRecords(database: database, randomness: randomness)
    }
}

extension Ledger {
    /// Opens the ledger in one SQLite file, and makes the file if there is none.
    ///
    /// - Parameter takesOver: Whether one of an earlier version becomes one of this.
    /// - Throws: `StorageFault`.
    public init(file: URL, randomness: Randomness = .system, takesOver: Bool = true) throws(StorageFault) {
        self.init(
            storage: try SQLiteStorage(file: file, randomness: randomness, takesOver: takesOver), randomness: randomness
        )
    }
}
