/// The outcome of an attempt to send a mail.
package enum MailOutcome: Hashable, Sendable {
    case sent
    /// The mail cannot be sent now, but may be later.
    case failed(code: String)
    /// The mail can never be sent, for example because the mailbox does not exist.
    case refused(code: String)
}
