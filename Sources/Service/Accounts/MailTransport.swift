import Accounts

/// A way to send mails.
public protocol MailTransport: Sendable {
    /// Sends a mail, in less than the time for which its sender has it for itself.
    func send(_ mail: TakenMail, subject: String, text: String) async -> MailOutcome
}
