import Proofs

/// A notification about a purchase of a user, with the digest of its signed bytes.
public struct RecordedNotification: Hashable, Sendable {
    public let notification: StatedNotification
    /// The SHA-256 of the signed bytes.
    public let proofDigest: [UInt8]
}
