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
            let (wakes, _) = AsyncStream.wakes(after: queue.ledger, every: Self.interval, in: &group)
            var nextSweep = ContinuousClock.now
            for await _ in wakes {
                while !Task.isShuttingDownGracefully, !Task.isCancelled, await sendBatch() {}
                guard ContinuousClock.now >= nextSweep else { continue }
                let isSwept: Void? = try? await logger.logging("mails failed") {
                    try await Ledger.retryingWhileOverloaded { try await queue.deleteExpired() }
                }
                if isSwept != nil { nextSweep = .now + Self.sweepInterval }
            }
        }
    }

    /// - Returns: True if there may be more mails.
    private func sendBatch() async -> Bool {
        let isDone: Bool? = try? await logger.logging("mails failed") {
            let leased = try await Ledger.retryingWhileOverloaded { try await queue.lease(upTo: Self.maximumAtOnce) }
            let results = await withTaskGroup { group in
                for mail in leased { group.addTask { queue.result(of: mail.mail, await send(mail)) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            guard !results.isEmpty else { return false }
            try await Ledger.retryingWhileOverloaded { try await queue.record(results) }
            for result in results { report(result) }
            return true
        }
        return isDone ?? false
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
            logger.log(level: lines.level(.warning), "mail given up", metadata: metadata)
        } else {
            logger.log(level: lines.level(.notice), "mail not sent yet", metadata: metadata)
        }
    }
}

extension MailQueue {
    /// The sender of the queue's mails.
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
