import Features
import HTTPSupport
import Proofs

package protocol MailTransport: Sendable {
    /// Sends a mail in less time than its sender has reserved it for.
    func send(_ mail: LeasedMail, subject: String, text: String) async -> MailOutcome
}

/// Sends mails to a mail server.
package struct SMTPMailTransport: MailTransport {
    /// The code of an attempt whose subject or address is invalid in a message.
    private static let messageInvalid = "messageInvalid"

    private let server: MailServer
    private let sender: MailAddress

    package init(server: MailServer, sender: MailAddress) {
        self.server = server
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
            try await server.send(message)
            return .sent
        } catch {
            return error.isPermanent ? .refused(code: error.rawValue) : .failed(code: error.rawValue)
        }
    }
}

/// Sends mails to the team's own mailer, one signed request each, in the format of webhooks.
package struct WebhookMailTransport: MailTransport {
    private let url: WebhookURL
    private let secret: WebhookSecret
    private let sender: String
    private let links: MailLinks
    private let clock: any WallClock

    /// - Parameters:
    ///   - sender: The sender that the request names.
    ///   - links: The page to which the mails lead.
    package init(url: WebhookURL, secret: WebhookSecret, sender: String, links: MailLinks, clock: any WallClock) {
        self.url = url
        self.secret = secret
        self.sender = sender
        self.links = links
        self.clock = clock
    }

    package func send(_ mail: LeasedMail, subject: String, text: String) async -> MailOutcome {
        do {
            // The operator has configured the address, so it may be in a private network.
            let address = try await WebhookAddress.find(url, allowsPrivate: true)
            let webhook = SignedWebhook(
                try body(mail, subject, text), identifier: "mail_\(mail.mail.identifier)", secrets: [secret],
                at: clock.now())
            let status = try await WebhookConnection.open(to: url, at: address) {
                try await $0.send(webhook).status
            }
            return (200...299).contains(status) ? .sent : .failed(code: "status\(status / 100)xx")
        } catch let refusal as WebhookAddress.Refusal {
            return .failed(code: refusal.rawValue)
        } catch let failure as WebhookConnection.Failure {
            return .failed(code: failure.rawValue)
        } catch {
            return .failed(code: WebhookConnection.Failure.other.rawValue)
        }
    }

    private func body(_ mail: LeasedMail, _ subject: String, _ text: String) throws -> [UInt8] {
        let content = MailRequest.Content(
            to: mail.mail.email, from: sender, language: mail.mail.language, subject: subject, text: text,
            link: mail.link(links), token: mail.token.text, linkExpiresAt: mail.linkEndsAt.rfc3339,
            newEmail: mail.newEmail)
        return try JSONAnswer.encode(
            MailRequest(
                type: "mail.\(mail.mail.purpose.rawValue)", timestamp: mail.mail.createdAt.rfc3339, data: content))
    }
}

/// A request to the team's own mailer to send a mail.
package struct MailRequest: Codable, Sendable {
    /// The mail, as text and in its parts.
    package struct Content: Codable, Sendable {
        package let to: String
        /// The sender, from the setting `mail-from`.
        package let from: String
        /// The language of the text, such as `en`.
        package let language: String
        package let subject: String
        package let text: String
        package let link: String
        /// The secret in the link.
        package let token: String
        /// RFC 3339, UTC.
        package let linkExpiresAt: String
        /// The new address, if the mail is about a change of address.
        var newEmail: String?
    }

    /// `mail.` and the purpose: `verification`, `reset`, `addressChange` or `newAddress`.
    package let type: String
    /// The time of the request (RFC 3339, UTC).
    package let timestamp: String
    package let data: Content
}
