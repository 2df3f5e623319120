import Features
import HTTPSupport
import Proofs

/// The way of mails to their recipients.
package indirect enum MailTransport: Sendable {
    /// The code of an attempt whose subject or address is invalid in a message.
    private static let messageInvalid = "messageInvalid"

    /// A mail server.
    case server(MailServer, from: MailAddress)
    /// The team's own mailer. It gets a signed request for each mail, in the format of webhooks.
    ///
    /// - Parameter from: The sender that the request names.
    case mailer(WebhookURL, WebhookSecret, from: String)

    /// Sends a mail in less time than its sender has reserved it for.
    ///
    /// - Parameters:
    ///   - links: The page to which the mails lead.
    ///   - clock: The clock for the signature of a request.
    func send(
        _ mail: LeasedMail, subject: String, text: String, _ links: MailLinks, _ clock: any WallClock
    ) async -> MailOutcome {
        switch self {
        case .server(let server, let sender):
            return await Self.send(mail, subject, text, to: server, from: sender)
        case .mailer(let url, let secret, let sender):
            do {
                let body = try Self.body(mail, subject, text, from: sender, links)
                return try await Self.send(
                    body, identifier: "mail_\(mail.mail.identifier)", to: url, signedWith: secret, clock)
            } catch let refusal as WebhookAddress.Refusal {
                return .failed(code: refusal.rawValue)
            } catch let failure as WebhookConnection.Failure {
                return .failed(code: failure.rawValue)
            } catch {
                return .failed(code: WebhookConnection.Failure.other.rawValue)
            }
        }
    }

    private static func send(
        _ mail: LeasedMail, _ subject: String, _ text: String, to server: MailServer, from sender: MailAddress
    ) async -> MailOutcome {
        let message = MailAddress(mail.mail.email).flatMap { recipient in
            MailMessage(
                from: sender, to: recipient, subject: subject, text: text, identifier: mail.mail.identifier,
                date: mail.mail.createdAt)
        }
        guard let message else { return .refused(code: messageInvalid) }
        do {
            try await server.send(message)
            return .sent
        } catch {
            return error.isPermanent ? .refused(code: error.rawValue) : .failed(code: error.rawValue)
        }
    }

    private static func body(
        _ mail: LeasedMail, _ subject: String, _ text: String, from sender: String, _ links: MailLinks
    ) throws -> [UInt8] {
        let content = MailRequest.Content(
            to: mail.mail.email, from: sender, language: mail.mail.language, subject: subject, text: text,
            link: mail.link(links), token: mail.token.text, linkExpiresAt: mail.linkEndsAt.rfc3339,
            newEmail: mail.newEmail)
        return try JSONAnswer.encode(
            MailRequest(
                type: "mail.\(mail.mail.purpose.rawValue)", timestamp: mail.mail.createdAt.rfc3339, data: content))
    }

    private static func send(
        _ body: [UInt8], identifier: String, to url: WebhookURL, signedWith secret: WebhookSecret,
        _ clock: any WallClock
    ) async throws -> MailOutcome {
        // The operator has configured the address, so it may be in a private network.
        let address = try await WebhookAddress.find(url, allowsPrivate: true)
        let webhook = SignedWebhook(body, identifier: identifier, secrets: [secret], at: clock.now())
        let status = try await WebhookConnection.open(to: url, at: address) {
            try await $0.send(webhook).status
        }
        return (200...299).contains(status) ? .sent : .failed(code: "status\(status / 100)xx")
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
