import Foundation
import Proofs

/// The result of restoring a backup.
package struct RestorationReport: Sendable {
    /// An API key that is valid in the backup, and was revoked after the backup.
    package struct RevivedKey: Hashable, Sendable {
        package let identifier: String
        package let name: String
        package let revokedAt: Timestamp
    }

    /// The ledger that was in place before.
    package enum Previous: Hashable, Sendable {
        case missing
        /// The ledger is complete in this file.
        case kept(URL)
        /// The ledger could not be read, and is unchanged in this file.
        case keptDamaged(URL)

        package var file: URL? {
            switch self {
            case .missing: nil
            case .kept(let file), .keptDamaged(let file): file
            }
        }
    }

    /// The contents of the backup.
    package let contents: LedgerReport
    package let endedSessions: Int
    /// The API keys that the backup would revive; nil if the ledger in place could not be read.
    package let revivedKeys: [RevivedKey]?
    /// True if the revived keys were revoked again.
    package let revokedAgain: Bool
    package let previous: Previous
}
