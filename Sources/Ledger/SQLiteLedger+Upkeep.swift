import Commerce
import Foundation
import GRDB
import Signatures

/// What an operator does with a ledger besides serving from it.
extension SQLiteLedger {
    /// How many violations of one rule are told of.
    private static let maximumTold = 10

    /// Checks that the file is whole and that every rule of the ledger holds, all as of one moment; others may go on writing.
    public func check() throws(StorageFault) -> LedgerReport {
        do {
            // SQLite checks the constraints of tables only for who might write.
            let queue = try DatabaseQueue(path: path)
            var report: LedgerReport?
            try queue.inTransaction(.deferred) { database in
                report = try Self.report(on: database)
                return .rollback
            }
            guard let report else { throw damaged }
            return report
        } catch {
            throw Self.fault(error, path: path)
        }
    }

    private static func report(on database: Database) throws -> LedgerReport {
        func count(_ table: String) throws -> Int {
            try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0
        }
        var problems = try String.fetchAll(database, sql: "PRAGMA integrity_check(\(maximumTold))")
            .filter { $0 != "ok" }
        for row in try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").prefix(maximumTold) {
            let (table, parent): (String, String) = (row["table"], row["parent"])
            problems.append("A row of \(table) refers to one of \(parent) that is not there.")
        }
        for rule in rules {
            let broken = try String.fetchAll(database, sql: "\(rule.violations) LIMIT \(maximumTold)")
            problems += broken.map { "\(rule.sentence): \($0)." }
        }
        return LedgerReport(
            users: try count("user"), redeemedTransactions: try count("redeemed_transaction"),
            grants: try count("team_grant"), notifications: try count("notification"), problems: problems)
    }

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
            "An account token is no UUID in lowercase",
            """
            SELECT name FROM user WHERE app_account_token NOT GLOB
                '\(["8", "4", "4", "4", "12"].map { String(repeating: "[0-9a-f]", count: Int($0) ?? 0) }.joined(separator: "-"))'
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
            try copyPages(to: copy)
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
