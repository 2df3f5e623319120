import Commerce
import Foundation

/// The replacement of a ledger's file by a backup.
///
/// The backup is copied, checked and changed under another name, and takes its place by one renaming. At every moment there is
/// either the ledger before or the ledger after, whole. The backup itself is never changed.
public struct LedgerRestoration: Sendable {
    private let ledger: URL
    private let backup: URL
    private let moment: Timestamp
    private let features: [LedgerFeature]

    /// - Parameters:
    ///   - ledger: The file to replace, which need not exist.
    ///   - features: All features there are.
    ///   - moment: The time that names the file of the replaced ledger.
    package init(of ledger: URL, from backup: URL, features: [LedgerFeature], at moment: Timestamp) {
        self.features = features
        self.ledger = ledger
        self.backup = backup
        self.moment = moment
    }

    /// Puts the backup in place of the ledger, without its sessions.
    ///
    /// - Parameter revokesRevivedKeys: Whether API keys are revoked again that were revoked since the backup.
    /// - Throws: `RestorationError`, `StorageFault`; then the ledger is as it was.
    public func perform(revokesRevivedKeys: Bool = true) throws -> RestorationReport {
        let lock = try lock()
        defer { withExtendedLifetime(lock) {} }
        // SQLite has its files beside the file that a link leads to.
        let place = DatabaseFile(ledger.resolvingSymlinksInPath())
        let source = DatabaseFile(backup.resolvingSymlinksInPath())
        guard !source.isSame(as: place) else { throw RestorationError.isTheLedger(path: backup.path) }
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
