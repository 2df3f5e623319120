import Commerce
import Foundation
import GRDB
import Signatures

/// The ledger in one SQLite file, mode 0600, in WAL mode with `synchronous` FULL: what was answered survives a crash of
/// the process and of the machine. Several processes may open it at once.
public final class SQLiteLedger: Ledger {
    private let pool: DatabasePool
    private let path: String

    /// Opens the ledger, making it when there is none.
    ///
    /// - Throws: `StorageFault`.
    public init(file: URL) throws(StorageFault) {
        path = file.path
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
                let migrator = LedgerSchema.migrator
                guard try pool.read({ try !migrator.hasBeenSuperseded($0) }) else {
                    throw StorageFault(cause: .newerVersion, path: file.path)
                }
                try migrator.migrate(pool)
                return pool
            }
        } catch let fault as StorageFault {
            throw fault
        } catch is PrivateFile.Failure {
            throw StorageFault(cause: .cannotOpen, path: file.path)
        } catch {
            throw Self.fault(error, path: file.path)
        }
    }

    public func redeem(_ claims: [Claim], for user: User, at moment: Timestamp) throws(StorageFault) -> LedgerAnswer {
        do {
            return try pool.write { database in
                let records = LedgerRecords(database: database)
                let results = try claims.map { try records.record($0, for: user, at: moment) }
                return LedgerAnswer(results: results, items: try records.items(of: user))
            }
        } catch {
            throw Self.fault(error, path: path)
        }
    }

    public func items(of user: User) throws(StorageFault) -> [Item] {
        do {
            return try pool.read { try LedgerRecords(database: $0).items(of: user) }
        } catch {
            throw Self.fault(error, path: path)
        }
    }

    private static func fault(_ error: any Error, path: String) -> StorageFault {
        guard let error = error as? DatabaseError else { return StorageFault(cause: .failed, path: path) }
        return StorageFault(sqliteResultCode: error.resultCode.rawValue, path: path)
    }
}
