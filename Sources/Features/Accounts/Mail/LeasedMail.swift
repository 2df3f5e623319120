import Proofs

/// A mail that a sender has taken for an attempt, with the secret of its link.
package struct LeasedMail: Sendable {
    package let mail: QueuedMail
    package let token: LinkToken
    package let linkEndsAt: Timestamp
    /// The new address of a change; nil for another mail.
    package let newEmail: String?
}
