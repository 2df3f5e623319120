import Commerce
import Foundation
import GRDB
import Signatures

/// The file of a ledger, for what an operator does with it besides serving from it. It stays of the version it is of: a service
/// of an earlier version may be running on it.
public struct LedgerFile: Sendable {
    /// How many violations of one rule are told of.
    private static let maximumTold = 10

    private let url: URL

    /// - Parameter url: Of a file that is there.
    public init(_ url: URL) {
        self.url = url
    }

    /// Checks that the file is whole and that every rule of the ledger holds, all as of one moment; others may go on writing.
    ///
    /// - Throws: `StorageFault` where it cannot be read, or was written by a newer version.
    public func check() throws(StorageFault) -> LedgerReport {
        do {
            var report: LedgerReport?
            // SQLite checks the constraints of tables only for who might write.
            try DatabaseQueue(path: url.path).inTransaction(.deferred) { database in
                report = try Self.report(on: database)
                return .rollback
            }
            guard let report else { throw StorageFault(cause: .newerVersion, path: url.path) }
            return report
        } catch {
            throw SQLiteStorage.fault(error, path: url.path)
        }
    }

    /// - Returns: nil for a ledger of a newer version.
    private static func report(on database: Database) throws -> LedgerReport? {
        let migrator = LedgerSchema(randomness: .system).migrator
        guard try !migrator.hasBeenSuperseded(database) else { return nil }
        let isOfThisVersion = try migrator.hasCompletedMigrations(database)
        func count(_ table: String) throws -> Int {
            guard try database.tableExists(table) else { return 0 }
            return try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0
        }
        var problems = try String.fetchAll(database, sql: "PRAGMA integrity_check(\(maximumTold))")
            .filter { $0 != "ok" }
        for row in try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").prefix(maximumTold) {
            let (table, parent): (String, String) = (row["table"], row["parent"])
            problems.append("A row of \(table) refers to one of \(parent) that is not there.")
        }
        for rule in isOfThisVersion ? rules : [] {
            let broken = try String.fetchAll(database, sql: "\(rule.violations) LIMIT \(maximumTold)")
            problems += broken.map { "\(rule.sentence): \($0)." }
        }
        if isOfThisVersion {
            let audit = AuditRecords(database: SQLiteDatabase(database: database), randomness: .system)
            problems += try audit.breaks(limit: maximumTold).map {
                "The audit log of user \($0.user) was changed, at its record \($0.number) or before."
            }
        }
        return LedgerReport(
            users: try count("user"), redeemedTransactions: try count("redeemed_transaction"),
            grants: try count("team_grant"), notifications: try count("notification"), isOfThisVersion: isOfThisVersion,
            problems: problems)
    }

    /// As SQLite's GLOB has it.
    private static let lowercaseUUID = [8, 4, 4, 4, 12].map { String(repeating: "[0-9a-f]", count: $0) }
        .joined(separator: "-")

    /// What has to hold beyond what the tables themselves see to; each query names what breaks its rule.
    private static let rules: [(sentence: String, violations: String)] = [
        (
            "A transaction belongs to another user than its original purchase",
            """
            SELECT transaction_id FROM redeemed_transaction JOIN original_transaction
                USING (origin, original_transaction_id)
            WHERE redeemed_transaction.user_id <> original_transaction.user_id
            """
        ),
        (
            "An item stands on a transaction of another user",
            """
            SELECT transaction_id FROM entitlement JOIN redeemed_transaction USING (origin, transaction_id)
            WHERE entitlement.user_id <> redeemed_transaction.user_id
            """
        ),
        (
            "A balance stands on a transaction of another user",
            """
            SELECT transaction_id FROM credit JOIN redeemed_transaction USING (origin, transaction_id)
            WHERE credit.user_id <> redeemed_transaction.user_id
            """
        ),
        (
            "A transaction is redeemed, and waits to be",
            "SELECT transaction_id FROM parked_transaction JOIN redeemed_transaction USING (origin, transaction_id)"
        ),
        (
            "A grace period was stated by nobody",
            "SELECT transaction_id FROM redeemed_transaction WHERE grace_ends_at IS NOT NULL AND grace_stated_at IS NULL"
        ),
        (
            "A transaction is of an origin that there is not",
            """
            SELECT transaction_id FROM redeemed_transaction
            WHERE origin NOT IN (\(Origin.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")))
            """
        ),
        (
            "A transaction stands in no audit log of its owner",
            """
            SELECT transaction_id FROM (
                SELECT user_id, origin, transaction_id FROM redeemed_transaction
                EXCEPT
                SELECT user_id, origin, reference FROM audit WHERE event IN ('granted', 'revoked')
                EXCEPT
                SELECT redeemed.user_id, redeemed.origin, redeemed.transaction_id
                FROM audit CROSS JOIN redeemed_transaction AS redeemed
                WHERE event = 'transferredIn' AND redeemed.origin = audit.origin
                    AND redeemed.original_transaction_id = audit.reference AND redeemed.user_id = audit.user_id
            ) AS untold
            """
        ),
        (
            "An audit log tells of a transaction that nobody has redeemed",
            """
            SELECT reference FROM (
                SELECT origin, reference FROM audit WHERE event IN ('granted', 'revoked') AND origin IS NOT NULL
                EXCEPT
                SELECT origin, transaction_id FROM redeemed_transaction) AS told
            """
        ),
        (
            "An account token is no UUID in lowercase",
            """
            SELECT name FROM user WHERE app_account_token NOT GLOB
                '\(lowercaseUUID)'
            """
        ),
    ]

    /// Copies the ledger as of one moment into a new file, while others go on writing. The file is whole and on the disk when
    /// it is there under its name.
    ///
    /// - Throws: `BackupError` where the file is there already, or cannot be written; `StorageFault`.
    public func backUp(to file: URL) throws {
        let unfinished = file.appendingPathExtension("unfinished")
        do {
            guard !FileManager.default.fileExists(atPath: file.path) else { throw BackupError.exists(path: file.path) }
            // What a crash left behind.
            try? FileManager.default.removeItem(at: unfinished)
            try PrivateFile.ensureExists(at: unfinished)
            let copy = try DatabaseQueue(path: unfinished.path)
            try DatabaseQueue(path: url.path).backup(to: copy)
            // One file, which needs no other beside it.
            try copy.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
            try copy.close()
            try FileManager.default.moveItem(at: unfinished, to: file)
        } catch {
            try? FileManager.default.removeItem(at: unfinished)
            switch error {
            case let error as BackupError: throw error
            case let fault as StorageFault: throw fault
            case let error as DatabaseError where error.resultCode == .SQLITE_FULL:
                throw StorageFault(cause: .diskFull, path: file.path)
            case let error as DatabaseError
            where error.resultCode == .SQLITE_NOTADB || error.resultCode == .SQLITE_CORRUPT:
                throw StorageFault(cause: .damaged, path: url.path)
            default: throw BackupError.notWritten(path: file.path)
            }
        }
    }
}

/// Why a backup was not made.
public enum BackupError: CodedError, Equatable {
    case exists(path: String)
    case notWritten(path: String)

    public var code: String {
        switch self {
        case .exists: "backupExists"
        case .notWritten: "backupNotWritten"
        }
    }

    public var message: String {
        switch self {
        case .exists(let path): "\(path) is there already, and nothing is written over it: name another file."
        case .notWritten(let path):
            "\(path) cannot be written: check that its folder exists, its disk, and who may write there."
        }
    }
}
