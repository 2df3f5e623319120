import Ledger
import Proofs

/// A record of a user's audit log, with its place in the hash chain.
public struct RecordedEvent: Hashable, Sendable {
    public let record: AuditRecord
    /// The digest of the record before; zeros for a user's first record.
    public let previousDigest: [UInt8]
    /// True if the digest follows from the record and the record before it.
    public let isIntact: Bool
    /// The owner of a purchase that was refused to the user; nil for another event.
    public let otherOwner: User?
}
