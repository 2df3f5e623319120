import Foundation
import Proofs

/// The result of restoring a backup.
public struct RestorationReport: Sendable {
    /// An API key that is valid in the backup, and was revoked after the backup.
    public struct RevivedKey: Hashable, Sendable {
        public let identifier: String
        public let name: String
        public let revokedAt: Timestamp
    }

    /// The ledger that was in place before.
    public enum Previous: Hashable, Sendable {
        case missing
        /// The ledger is complete in this file.
        case kept(URL)
        /// The ledger could not be read, and is unchanged in this file.
        case keptDamaged(URL)

        public var file: URL? {
            switch self {
            case .missing: nil
            case .kept(let file), .keptDamaged(let file): file
            }
        }
    }

    /// The contents of the backup.
    public let contents: LedgerReport
    public let endedSessions: Int
    /// The API keys that the backup would revive; nil if the ledger in place could not be read.
    public let revivedKeys: [RevivedKey]?
    /// True if the revived keys were revoked again.
    public let revokedAgain: Bool
    public let previous: Previous
}
