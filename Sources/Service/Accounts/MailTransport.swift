import Features

/// A way to send mails.
package protocol MailTransport: Sendable {
    /// Sends a mail in less time than its sender has reserved it for.
    func send(_ mail: LeasedMail, subject: String, text: String) async -> MailOutcome
}
