import Commerce

/// A mail whose attempt has begun, with the secret of its link.
public struct TakenMail: Sendable {
    public let mail: QueuedMail
    public let token: LinkToken
    public let linkEndsAt: Timestamp
    /// The address that takes the place of another one; nil for a mail about something else.
    public let newEmail: String?
}
