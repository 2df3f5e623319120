import Features

/// Sends mails to a mail server.
package struct SMTPMailTransport: MailTransport {
    /// The code of an attempt whose subject or address is invalid in a message.
    private static let messageInvalid = "messageInvalid"

    private let client: SMTPClient
    private let sender: MailAddress

    package init(server: MailServer, sender: MailAddress) {
        client = SMTPClient(server: server)
        self.sender = sender
    }

    package func send(_ mail: LeasedMail, subject: String, text: String) async -> MailOutcome {
        let message = MailAddress(mail.mail.email).flatMap { recipient in
            MailMessage(
                from: sender, to: recipient, subject: subject, text: text, identifier: mail.mail.identifier,
                date: mail.mail.createdAt)
        }
        guard let message else { return .refused(code: Self.messageInvalid) }
        do {
            try await client.send(message)
            return .sent
        } catch {
            return error.isPermanent ? .refused(code: error.cause.rawValue) : .failed(code: error.cause.rawValue)
        }
    }
}
