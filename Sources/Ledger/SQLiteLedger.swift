import Commerce
import Foundation
import GRDB
import Signatures

/// The ledger in one SQLite file, mode 0600, in WAL mode with `synchronous` FULL: what was answered survives a crash of
/// the process and of the machine. Several processes may open it at once.
public final class SQLiteLedger: Ledger {
    private let pool: DatabasePool
    private let path: String
    private let randomness: Randomness

    /// Opens the ledger, making it when there is none.
    ///
    /// - Parameter randomness: Chance for the account tokens of users.
    /// - Throws: `StorageFault`.
    public init(file: URL, randomness: Randomness = .system) throws(StorageFault) {
        path = file.path
        self.randomness = randomness
        var configuration = Configuration()
        configuration.label = "ledger"
        configuration.busyMode = .timeout(10)
        do {
            // One at a time: two that found a new file would both make its tables.
            pool = try PrivateFile.withLock(file.appendingPathExtension("lock")) {
                try PrivateFile.ensureExists(at: file)
                let pool = try DatabasePool(path: file.path, configuration: configuration)
                try pool.writeWithoutTransaction { database in
                    // GRDB chooses NORMAL for WAL, under which a power cut may take back what was answered.
                    try database.execute(sql: "PRAGMA synchronous = FULL")
                }
                let migrator = LedgerSchema(randomness: randomness).migrator
                guard try pool.read({ try !migrator.hasBeenSuperseded($0) }) else {
                    throw StorageFault(cause: .newerVersion, path: file.path)
                }
                try migrator.migrate(pool)
                return pool
            }
        } catch is PrivateFile.Failure {
            throw StorageFault(cause: .cannotOpen, path: file.path)
        } catch {
            throw Self.fault(error, path: file.path)
        }
    }

    public func redeem(_ claims: [Claim], for user: User, at moment: Timestamp) throws(StorageFault) -> LedgerAnswer {
        try write { database in
            let users = users(database)
            let records = LedgerRecords(database: database, users: users)
            let user = try users.identifier(of: user, at: moment)
            let results = try claims.map { try records.record($0, for: user, at: moment) }
            return LedgerAnswer(results: results, items: try records.items(of: user, at: moment))
        }
    }

    public func record(
        _ notification: NotificationRecord,
        stating claim: Claim?,
        at moment: Timestamp
    ) throws(StorageFault) -> NotificationOutcome {
        try write { database in
            let users = users(database)
            return try LedgerRecords(database: database, users: users).record(notification, stating: claim, at: moment)
        }
    }

    public func items(of user: User, at moment: Timestamp) throws(StorageFault) -> [Item] {
        try read { database in
            let users = users(database)
            guard let user = try users.known(user) else { return [] }
            return try LedgerRecords(database: database, users: users).items(of: user, at: moment)
        }
    }

    public func transactions(
        of user: User,
        before sequence: Int64?,
        limit: Int
    ) throws(StorageFault) -> [RedeemedTransaction] {
        try read { database in
            let users = users(database)
            guard let user = try users.known(user) else { return [] }
            return try LedgerRecords(database: database, users: users)
                .transactions(of: user, before: sequence ?? .max, limit: limit)
        }
    }

    public func appAccountToken(of user: User, at moment: Timestamp) throws(StorageFault) -> UUID {
        try write { database in
            let users = users(database)
            let identifier = try users.identifier(of: user, at: moment)
            guard let token = try users.appAccountToken(of: identifier) else { throw damaged }
            if try !users.isAppAccountTokenSettled(of: identifier) { try users.settleAppAccountToken(of: identifier) }
            return token
        }
    }

    public func setAppAccountToken(
        _ token: UUID,
        of user: User,
        at moment: Timestamp
    ) throws(StorageFault) -> AppAccountTokenAnswer {
        try write { database in
            let users = users(database)
            let known = try users.known(user)
            if let known, let present = try users.appAccountToken(of: known), present != token,
                try users.isAppAccountTokenSettled(of: known)
            {
                return .hasAnother(present)
            }
            if let owner = try users.owner(of: token), owner != known { return .ofAnotherUser }
            try users.settleAppAccountToken(token, of: try users.identifier(of: user, at: moment))
            return .set
        }
    }

    func users(_ database: Database) -> UserRecords {
        UserRecords(database: database, randomness: randomness)
    }

    /// What has just been written is not there.
    var damaged: StorageFault { StorageFault(cause: .damaged, path: path) }

    func read<Value>(_ body: (Database) throws -> Value) throws(StorageFault) -> Value {
        do { return try pool.read(body) } catch { throw Self.fault(error, path: path) }
    }

    /// All of `body` in one commit, or nothing.
    func write<Value>(_ body: (Database) throws -> Value) throws(StorageFault) -> Value {
        do { return try pool.write(body) } catch { throw Self.fault(error, path: path) }
    }

    private static func fault(_ error: any Error, path: String) -> StorageFault {
        if let fault = error as? StorageFault { return fault }
        guard let error = error as? DatabaseError else { return StorageFault(cause: .failed, path: path) }
        return StorageFault(sqliteResultCode: error.resultCode.rawValue, path: path)
    }
}
