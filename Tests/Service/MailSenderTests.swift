import Entitlements
import Features
import Foundation
import HTTPSupport
import Ledger
import Logging
import Proofs
import Service
import ServiceLifecycle
import TestSupport
import Testing
import Vocabulary

/// The delivery of queued mails to the team's own mailer, and to a mail server.
@Suite struct MailSenderTests {
    let folder: TemporaryFolder
    let ledger: Ledger
    let clock = ManualClock()
    let accounts: AccountService
    let queue: MailQueue
    let metrics = ServiceMetrics()
    private let links: MailLinks
    private let secret: WebhookSecret

    init() throws {
        secret = try #require(WebhookSecret("whsec_" + String(repeating: "A", count: 32)))
        folder = try TemporaryFolder()
        ledger = try Ledger(file: folder.file("ledger.sqlite"))
        accounts = AccountService(
            ledger: ledger, clock: clock, templates: try MailTemplates(), cost: .minimal)
        queue = accounts.mails
        links = try #require(MailLinks("https://garden.example/account"))
    }

    private func sender(_ transport: MailTransport) throws -> MailSender {
        queue.sender(
            over: transport, try MailTemplates(), links, metrics: metrics,
            logger: Logger(label: "tests", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    private func mailer(_ receiver: WebhookReceiver) throws -> MailTransport {
        .mailer(
            try WebhookURL(receiver.url, allowsPlain: true), secret, from: "Garden <no-reply@garden.example>")
    }

    private func open(_ email: String, language: String = "en") async throws -> User {
        let email = try EmailAddress(email)
        return try await accounts.open(email, passwordHash: "h", language: language).account.user
    }

    private func mail(about user: User) async throws -> QueuedMail? {
        try await ledger.read { try $0.mails(about: user) }.first
    }

    /// Runs senders until `body` is done, then stops them.
    private func running(_ senders: MailSender..., body: () async throws -> Void) async throws {
        let group = ServiceGroup(
            services: senders, logger: Logger(label: "tests", factory: { _ in SwiftLogNoOpLogHandler() }))
        async let ended: Void = group.run()
        try await body()
        await group.triggerGracefulShutdown()
        try await ended
    }

    @Test func `the team's mailer gets a signed request with all that a mail needs`() async throws {
        let receiver = try await WebhookReceiver()
        let user = try await open("mint@example.com", language: "ko")
        try await running(sender(mailer(receiver))) {
            try await expectEventually { try await mail(about: user)?.sentAt != nil }
        }
        let message = try #require(receiver.received.first)
        #expect(receiver.received.count == 1)
        let signed = SignedWebhook(
            Array(message.body.utf8), identifier: message.identifier, secrets: [secret], at: clock.now())
        #expect(signed.headers.last?.value == message.signatures.joined(separator: " "))
        let request: MailRequest = try message.decoded()
        #expect(request.type == "mail.verification")
        #expect(request.data.to == "mint@example.com")
        #expect(request.data.from == "Garden <no-reply@garden.example>")
        #expect(request.data.language == "ko")
        #expect(request.data.link == "https://garden.example/account#confirm=\(request.data.token)")
        #expect(request.data.linkExpiresAt == "2026-09-22T14:13:20Z")
        #expect(request.data.text.contains(request.data.link))
        #expect(request.data.text.contains("#release=\(request.data.token)"))
        #expect(try await accounts.confirm(request.data.token) == .verified)
    }

    @Test func `a refused mail is retried with the same identifier`() async throws {
        let receiver = try await WebhookReceiver { _, before in before.isEmpty ? 503 : 200 }
        let user = try await open("mint@example.com")
        try await running(sender(mailer(receiver))) {
            try await expectEventually { try await mail(about: user)?.lastError == "status5xx" }
            #expect(receiver.received.count == 1)
            clock.advance(milliseconds: 60_000)
            try await expectEventually { try await mail(about: user)?.sentAt != nil }
        }
        #expect(receiver.received.count == 2)
        #expect(Set(receiver.received.map(\.identifier)).count == 1)
        let tokens = try receiver.received.map { try $0.decoded(MailRequest.self).data.token }
        #expect(Set(tokens).count == 2)
        #expect(metrics.text(queueDepth: 0).contains("till_mail_attempts_total{outcome=\"sent\",code=\"\"} 1\n"))
        #expect(
            metrics.text(queueDepth: 0).contains(
                "till_mail_attempts_total{outcome=\"retried\",code=\"status5xx\"} 1\n"))
    }

    @Test func `several senders do not send the same mail`() async throws {
        let receiver = try await WebhookReceiver { _, _ in
            try? await Task.sleep(for: .milliseconds(20))
            return 200
        }
        let transport = try mailer(receiver)
        try await running(sender(transport), sender(transport), sender(transport)) {
            var users: [User] = []
            for number in 0..<30 { users.append(try await open("\(number)@example.com")) }
            try await expectEventually {
                for user in users where try await mail(about: user)?.sentAt == nil { return false }
                return true
            }
        }
        #expect(receiver.received.count == 30)
        #expect(Set(receiver.received.map(\.identifier)).count == 30)
    }

    @Test(.withMailServer)
    func `a mail server gets the mail, and a permanent refusal is final`() async throws {
        let server = try await MailServerProcess()
        let transport = MailTransport.server(
            try #require(MailServer("smtp://127.0.0.1:\(server.port)")),
            from: try #require(MailAddress("Garden <no-reply@garden.example>")))
        let (mint, refused, busy) = (
            try await open("mint@example.com"), try await open("a@refused.example"), try await open("a@busy.example")
        )
        try await running(sender(transport)) {
            try await expectEventually { try await mail(about: mint)?.sentAt != nil }
            try await expectEventually { try await mail(about: refused)?.lastError == "refused" }
            #expect(try await mail(about: refused)?.nextAttemptAt == nil)
            try await expectEventually { try await mail(about: busy)?.lastError == "deferred" }
            clock.advance(milliseconds: 60_000)
            try await expectEventually { try await mail(about: busy)?.sentAt != nil }
        }
        let received = try server.received
        #expect(received.compactMap { $0.field("To") } == ["mint@example.com", "a@busy.example"])
        #expect(received[0].field("Subject") == "Confirm your e-mail address")
        let token = try #require(received[0].token("confirm"))
        #expect(try await accounts.confirm(token) == .verified)
    }
}
