import Features
import HTTPSupport
import Ledger
import Logging
import Proofs
import ServiceLifecycle

/// Sends queued mails as they become due.
///
/// The sender takes a mail from the ledger before it sends it, for longer than an attempt can last. So several services on one
/// ledger never send a mail at the same time. If a service ends in between, the mail waits for the next attempt.
package struct MailSender: Service {
    /// The polling interval of the queue. It finds retries and mails that another process has queued.
    private static let interval = Duration.seconds(1)
    private static let sweepInterval = Duration.seconds(60 * 60)
    /// The maximum number of mails that are sent concurrently.
    private static let maximumAtOnce = 4
    /// The code of an attempt without a template.
    private static let templateMissing = "templateMissing"

    fileprivate let queue: MailQueue
    fileprivate let transport: MailTransport
    fileprivate let templates: MailTemplates
    fileprivate let links: MailLinks
    fileprivate let metrics: ServiceMetrics
    fileprivate let logger: Logger
    /// Anyone can sign up with an address that refuses mails.
    private let lines = LogLimit()

    /// Sends until the service stops, and finishes the attempts that are under way.
    package func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { await lines.summarize(in: logger) }
            let wakes = Wakes(after: queue.ledger, every: Self.interval, in: &group)
            var nextSweep = ContinuousClock.now
            let rhythm = Rhythm(every: Self.interval, idle: .seconds(5))
            await RepeatedWork("mails failed", rhythm, logger: logger).run(wakes) {
                var found = false
                while !Task.isShuttingDownGracefully, !Task.isCancelled, try await sendBatch() { found = true }
                if ContinuousClock.now >= nextSweep {
                    _ = try await ShutdownBound.run {
                        try await Ledger.retryingWhileOverloaded { try await queue.deleteExpired() }
                    }
                    nextSweep = .now + Self.sweepInterval
                }
                return found
            }
        }
    }

    /// - Returns: True if there may be more mails.
    private func sendBatch() async throws -> Bool {
        let due = try await ShutdownBound.run { try await queue.due(upTo: Self.maximumAtOnce) }
        guard let due, !due.isEmpty else { return false }
        let leased = try await Ledger.retryingWhileOverloaded { try await queue.lease(due) }
        let results = await withTaskGroup { group in
            for mail in leased { group.addTask { queue.result(of: mail.mail, await send(mail)) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        guard !results.isEmpty else { return false }
        try await Ledger.retryingWhileOverloaded { try await queue.record(results) }
        for result in results { report(result) }
        return true
    }

    private func send(_ mail: LeasedMail) async -> MailOutcome {
        guard let (subject, text) = mail.rendered(templates, links) else { return .refused(code: Self.templateMissing) }
        return await transport.send(mail, subject: subject, text: text, links, queue.clock)
    }

    private func report(_ result: MailResult) {
        let outcome = result.outcome == .sent ? "sent" : result.isGivenUp ? "failed" : "retried"
        metrics.count(.mailAttempts, outcome, code: result.error ?? "")
        guard let code = result.error else { return }
        let metadata: Logger.Metadata = [
            "mail": "\(result.mail.identifier)", "purpose": "\(result.mail.purpose.rawValue)", "code": "\(code)",
            "attempts": "\(result.mail.attempts)",
        ]
        if result.isGivenUp {
            logger.log(level: lines.level(.warning, of: code, in: logger), "mail given up", metadata: metadata)
        } else {
            logger.log(level: lines.level(.notice, of: code, in: logger), "mail not sent yet", metadata: metadata)
        }
    }
}

extension MailQueue {
    package func sender(
        over transport: MailTransport,
        _ templates: MailTemplates,
        _ links: MailLinks,
        metrics: ServiceMetrics,
        logger: Logger
    ) -> MailSender {
        MailSender(
            queue: self, transport: transport, templates: templates, links: links, metrics: metrics, logger: logger)
    }
}

/// The way of mails to their recipients.
package indirect enum MailTransport: Sendable {
    /// The code of an attempt whose subject or address is invalid in a message.
    private static let messageInvalid = "messageInvalid"

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
                // The operator has configured the address, so it may be in a private network.
                let outcome = try await WebhookConnection.send(to: url, allowsPrivateAddresses: true) {
                    SignedWebhook(
                        body, identifier: "mail_\(mail.mail.identifier)", secrets: [secret], at: clock.now())
                }
                return outcome.isDelivery ? .sent : .failed(code: outcome.code)
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
