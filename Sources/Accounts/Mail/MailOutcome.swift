/// The end of an attempt to send a mail.
public enum MailOutcome: Hashable, Sendable {
    case sent
    /// The mail cannot be sent now.
    case failed(code: String)
    /// The mail can never be sent: there is no such mailbox, for example.
    case refused(code: String)
}
