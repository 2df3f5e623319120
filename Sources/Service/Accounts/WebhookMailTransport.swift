import Features
import Foundation
import Proofs

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
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let content = MailRequest.Content(
            to: mail.mail.email, from: sender, language: mail.mail.language, subject: subject, text: text,
            link: mail.link(links), token: mail.token.text, linkExpiresAt: mail.linkEndsAt.rfc3339,
            newEmail: mail.newEmail)
        return [UInt8](
            try encoder.encode(
                MailRequest(
                    type: .init(mail.mail.purpose), timestamp: mail.mail.createdAt.rfc3339, data: content)))
    }
}

extension MailRequest.Kind {
    fileprivate init(_ purpose: LinkPurpose) {
        switch purpose {
        case .verification: self = .verification
        case .reset: self = .reset
        case .addressChange: self = .addressChange
        case .newAddress: self = .newAddress
        }
    }
}
