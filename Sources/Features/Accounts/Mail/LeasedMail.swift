import Proofs

/// A mail that a sender has taken for an attempt, with the secret of its link.
public struct LeasedMail: Sendable {
    public let mail: QueuedMail
    public let token: LinkToken
    public let linkEndsAt: Timestamp
    /// The new address of a change; nil for another mail.
    public let newEmail: String?
}
