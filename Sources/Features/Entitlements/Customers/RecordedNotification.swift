import Proofs

/// A notification about a purchase of a user, with the digest of its signed bytes.
package struct RecordedNotification: Hashable, Sendable {
    package let notification: StatedNotification
    /// The SHA-256 of the signed bytes.
    package let proofDigest: [UInt8]
}
