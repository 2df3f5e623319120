import Proofs
import Service
import TestSupport
import Testing

/// Messages to a real mail server (aiosmtpd).
@Suite struct SMTPClientTests {
    private static let password = "se cret é"

    private func message(to recipient: String = "mint@example.com") throws -> MailMessage {
        let sender = try #require(MailAddress("Garden <no-reply@garden.example>"))
        let recipient = try #require(MailAddress(recipient))
        let message = MailMessage(
            from: sender, to: recipient, subject: "안녕하세요", text: ".\nHello\n.dot\n", identifier: "m1",
            date: Timestamp(secondsSince1970: 1_790_000_000))
        return try #require(message)
    }

    private func client(
        _ url: String,
        trusting certificates: String? = nil,
        password: String? = nil
    ) throws -> MailServer {
        let credentials = password.map { (username: "garden", password: $0) }
        return try #require(MailServer(url, credentials: credentials, certificates: certificates))
    }

    @Test(.withMailServer)
    func `a message arrives as it was sent`() async throws {
        let server = try await MailServerProcess()
        try await client("smtp://127.0.0.1:\(server.port)").send(message())
        let mail = try #require(try server.received.first)
        #expect(mail.field("X-Envelope-From") == "no-reply@garden.example")
        #expect(mail.field("X-Envelope-To") == "mint@example.com")
        #expect(mail.field("X-Hello") == "garden.example")
        #expect(mail.field("X-TLS") == "no")
        #expect(mail.field("From") == #""Garden" <no-reply@garden.example>"#)
        #expect(mail.field("Subject") == "=?utf-8?B?7JWI64WV7ZWY7IS47JqU?=")
        #expect(mail.text == ".\r\nHello\r\n.dot\r\n")
    }

    @Test(
        .withMailServer,
        arguments: [MailServerProcess.Encryption.startTLS, .implicit])
    func `TLS is verified, and credentials are sent over it`(encryption: MailServerProcess.Encryption) async throws {
        let server = try await MailServerProcess(encryption, password: Self.password)
        let certificate = try #require(server.certificate)
        let url = "\(encryption == .implicit ? "smtps" : "smtp")://localhost:\(server.port)"
        try await client(url, trusting: certificate.path, password: Self.password).send(message())
        #expect(try server.received.map { $0.field("X-TLS") } == ["yes"])
        await #expect(throws: MailFailure.authenticationFailed) {
            try await client(url, trusting: certificate.path, password: "wrong").send(message())
        }
        await #expect(throws: MailFailure.authenticationFailed) {
            try await client(url, trusting: certificate.path).send(message())
        }
        // Another certificate than the server's.
        let other = try await MailServerProcess(.startTLS)
        await #expect(throws: MailFailure.tlsFailed) {
            try await client(url, trusting: try #require(other.certificate).path, password: Self.password)
                .send(message())
        }
        #expect(try server.received.count == 1)
    }

    @Test(.withMailServer)
    func `a server without TLS gets no message if TLS is required`() async throws {
        let plain = try await MailServerProcess()
        let certificate = try #require(try await MailServerProcess(.startTLS).certificate)
        await #expect(throws: MailFailure.tlsFailed) {
            try await client("smtp://localhost:\(plain.port)", trusting: certificate.path).send(message())
        }
        #expect(try plain.received.isEmpty)
    }

    @Test(.withMailServer)
    func `a mailbox that does not exist is refused for good, a busy one for now`() async throws {
        let server = try await MailServerProcess()
        let client = try client("smtp://127.0.0.1:\(server.port)")
        await #expect(throws: MailFailure.refused) { try await client.send(message(to: "a@refused.example")) }
        await #expect(throws: MailFailure.deferred) { try await client.send(message(to: "a@busy.example")) }
        try await client.send(message(to: "a@busy.example"))
        #expect(try server.received.count == 1)
        #expect(MailFailure.refused.isPermanent)
        #expect(!MailFailure.deferred.isPermanent)
    }

    @Test func `a server that does not listen and an unknown host are different errors`() async throws {
        await #expect(throws: MailFailure.unreachable) {
            try await client("smtp://127.0.0.1:1").send(message())
        }
        await #expect(throws: MailFailure.hostUnknown) {
            try await client("smtp://nowhere.invalid").send(message())
        }
    }
}
