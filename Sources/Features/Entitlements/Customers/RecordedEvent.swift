import Ledger
import Proofs

/// A record of a user's audit log, with its place in the hash chain.
package struct RecordedEvent: Hashable, Sendable {
    package let record: AuditRecord
    /// The digest of the record before; zeros for a user's first record.
    package let previousDigest: [UInt8]
    /// True if the digest follows from the record and the record before it.
    package let isIntact: Bool
    /// The owner of a purchase that was refused to the user; nil for another event.
    package let otherOwner: User?
}
