import Foundation
import Proofs

/// The replacement of a ledger's file by a backup.
///
/// The restoration copies, checks and changes the backup under another name. One rename then replaces the ledger, so that a
/// crash leaves either the old ledger or the new one. The backup itself stays unchanged.
package struct LedgerRestoration: Sendable {
    private let ledger: URL
    private let backup: URL
    private let moment: Timestamp
    private let features: [LedgerFeature]

    /// - Parameters:
    ///   - ledger: The file to replace, which need not exist.
    ///   - features: All features.
    ///   - moment: The time that names the file of the replaced ledger.
    package init(of ledger: URL, from backup: URL, features: [LedgerFeature], at moment: Timestamp) {
        self.features = features
        self.ledger = ledger
        self.backup = backup
        self.moment = moment
    }

    /// Replaces the ledger by the backup, without its sessions.
    ///
    /// - Parameter revokesRevivedKeys: True if API keys that were revoked since the backup are revoked again.
    /// - Throws: `RestorationError`, `StorageFault`; the ledger is then unchanged.
    package func perform(revokesRevivedKeys: Bool = true) throws -> RestorationReport {
        let lock = try lock()
        defer { withExtendedLifetime(lock) {} }
        // SQLite's auxiliary files are next to the target of a symbolic link.
        let place = DatabaseFile(ledger.resolvingSymlinksInPath())
        let source = DatabaseFile(backup.resolvingSymlinksInPath())
        guard !source.isSame(as: place) else { throw RestorationError.sameFile(path: backup.path) }
        let copy = try BackupCopy(of: source, beside: place, features)
        defer { copy.discard() }
        let contents = try copy.check()
        let replaced = try ReplacedLedger(place)
        let revived = try replaced.revokedKeys.map { try copy.valid($0) }
        let sessions = try copy.complete(revoking: revokesRevivedKeys ? revived ?? [] : [])
        return RestorationReport(
            contents: contents, endedSessions: sessions, revivedKeys: revived, revokedAgain: revokesRevivedKeys,
            previous: try replaced.replace(with: copy.file, at: moment))
    }

    private func lock() throws -> LedgerLock {
        do {
            return try LedgerLock(ledger, .exclusive)
        } catch {
            if error.cause == .busy { throw RestorationError.inUse(path: ledger.path) }
            throw error
        }
    }
}
