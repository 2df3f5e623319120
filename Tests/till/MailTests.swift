import Foundation
import HTTPSupport
import Service
import TestSupport
import Testing

/// Accounts recovered by mail: the real binary, and a real mail server.
@Suite struct MailTests {
    let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    private static let password = "mail secret"

    private static let common = [
        "--accounts", "--mail-from", "Garden <no-reply@garden.example>", "--mail-links",
        "https://garden.example/account",
    ]

    private func post(
        _ server: ServeProcess,
        _ path: String,
        _ fields: [String: String],
        token: String? = nil,
        options: [String] = []
    ) async throws -> ServeProcess.Answer {
        let body = String(decoding: try JSONEncoder().encode(fields), as: UTF8.self)
        return try await server.curl(path, key: token, body: body, options: options)
    }

    /// The token in the only mail to an address that has a link for the action.
    private func token(_ action: String, to address: String, in mails: MailServerProcess) async throws -> String {
        func tokens() throws -> [String] {
            try mails.received.filter { $0.field("To") == address }.compactMap { $0.token(action) }
        }
        try await expectEventually { try !tokens().isEmpty }
        let found = try tokens()
        #expect(found.count == 1)
        return found[0]
    }

    @Test(.withMailServer)
    func `an address is verified, a password replaced and an address changed by mail`() async throws {
        let mails = try await MailServerProcess(.startTLS, password: Self.password)
        let arguments =
            Self.common + [
                "--mail-server", "smtp://localhost:\(mails.port)", "--mail-username", "garden", "--mail-certificates",
                try #require(mails.certificate).path,
            ]
        let server = try await ServeProcess(till, arguments, environment: ["TILL_MAIL_PASSWORD": Self.password])
        let fields = ["email": "mint@example.com", "password": "correct horse"]
        let entrance: EntranceResource = try await post(
            server, "/v1/accounts", fields, options: ["--header", "Accept-Language: ko"]
        ).decoded()

        let verification = try await token("confirm", to: "mint@example.com", in: mails)
        let mail = try #require(try mails.received.first)
        #expect(mail.field("X-TLS") == "yes")
        #expect(mail.field("From") == "\"Garden\" <no-reply@garden.example>")
        #expect(mail.text.contains("가입"))
        let confirmed = try await post(server, "/v1/accounts/confirmation", ["token": verification])
        #expect(try confirmed.decoded(ConfirmationResource.self).outcome == .verified)

        #expect(try await post(server, "/v1/accounts/recovery", ["email": "mint@example.com"]).status == 202)
        let reset = try await token("reset", to: "mint@example.com", in: mails)
        let replaced = try await post(
            server, "/v1/accounts/password", ["token": reset, "password": "another password"])
        #expect(replaced.status == 204)
        #expect(try await server.curl("/v1/me/account", key: entrance.tokens.accessToken).code == "tokenInvalid")
        let login = try await post(
            server, "/v1/sessions", ["email": "mint@example.com", "password": "another password"])
        let access = try login.decoded(EntranceResource.self).tokens.accessToken

        let change = try await post(
            server, "/v1/me/account/email", ["email": "gold@example.com", "password": "another password"],
            token: access, options: ["--request", "PUT"])
        #expect(change.status == 202)
        let new = try await token("confirm", to: "gold@example.com", in: mails)
        #expect(
            try await post(server, "/v1/accounts/confirmation", ["token": new])
                .decoded(ConfirmationResource.self).outcome == .waitsForOther)
        try await expectEventually { try mails.received.count == 4 }
        let old = try #require(try mails.received.last { $0.field("To") == "mint@example.com" }?.token("confirm"))
        #expect(
            try await post(server, "/v1/accounts/confirmation", ["token": old])
                .decoded(ConfirmationResource.self).outcome == .changed)
        let account = try await server.curl("/v1/me/account", key: access).decoded(AccountResource.self)
        #expect(account.email == "gold@example.com")
        #expect(account.emailVerifiedAt != nil)
        #expect(await server.end(SIGTERM) == 0)
        let log = try server.log
        for secret in [Self.password, verification, reset, new, old, "mint@example.com", "correct horse"] {
            #expect(!log.contains(secret))
        }
        #expect(log.contains("waiting for mails"))
    }

    @Test(.withMailServer)
    func `a mail that was queued is sent by the next service`() async throws {
        let mails = try await MailServerProcess()
        // No server listens on this port.
        let first = try await ServeProcess(till, Self.common + ["--mail-server", "smtp://127.0.0.1:1"])
        let fields = ["email": "mint@example.com", "password": "correct horse"]
        #expect(try await post(first, "/v1/accounts", fields).status == 201)
        await expectEventually { (try? first.log.contains("unreachable")) ?? false }
        first.kill()
        let second = try await ServeProcess(
            till, Self.common + ["--mail-server", "smtp://127.0.0.1:\(mails.port)"])
        let token = try await token("confirm", to: "mint@example.com", in: mails)
        #expect(try await post(second, "/v1/accounts/confirmation", ["token": token]).status == 200)
        #expect(try mails.received.count == 1)
    }

    @Test func `the team's mailer gets the mail instead`() async throws {
        let receiver = try await WebhookReceiver()
        let secret = till.folder.file("secret")
        let text = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
        try Data("\(text)\n".utf8).write(to: secret)
        let server = try await ServeProcess(
            till, Self.common + ["--mail-webhook", receiver.url, "--mail-webhook-secret-file", secret.path])
        let fields = ["email": "mint@example.com", "password": "correct horse"]
        #expect(try await post(server, "/v1/accounts", fields).status == 201)
        await expectEventually { !receiver.received.isEmpty }
        let request: MailRequest = try #require(receiver.received.first).decoded()
        let confirmed = try await post(server, "/v1/accounts/confirmation", ["token": request.data.token])
        #expect(try confirmed.decoded(ConfirmationResource.self).outcome == .verified)
        #expect(await server.end(SIGTERM) == 0)
        #expect(try !server.log.contains(text))
    }

    @Test func `without mail, accounts are as before, and the log says so`() async throws {
        let server = try await ServeProcess(till, ["--accounts"])
        let fields = ["email": "mint@example.com", "password": "correct horse"]
        #expect(try await post(server, "/v1/accounts", fields).status == 201)
        #expect(try await post(server, "/v1/sessions", fields).status == 201)
        for path in ["recovery", "password", "confirmation", "release"] {
            #expect(try await post(server, "/v1/accounts/\(path)", [:]).code == "featureOff")
        }
        #expect(await server.end(SIGTERM) == 0)
        #expect(try server.log.contains("no mail is sent"))
    }

    @Test func `templates of the team's own are used, and a wrong one ends the service at once`() async throws {
        let folder = till.folder.folder("templates")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "verification.en.txt")
        try Data("Subject: Welcome\n\nUse {{code}}.".utf8).write(to: file)
        let receiver = try await WebhookReceiver()
        let secret = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
        let arguments = Self.common + ["--mail-webhook", receiver.url, "--mail-templates", folder.path]
        let environment = ["TILL_MAIL_WEBHOOK_SECRET": secret]
        let refused = try await till.run(arguments: ["serve"] + arguments, environment: environment)
        #expect(refused.status == 1)
        #expect(refused.error.contains("verification.en.txt"))
        #expect(refused.error.contains("{{code}}"))
        try Data("Subject: Welcome\n\nUse {{token}}.".utf8).write(to: file)
        let server = try await ServeProcess(till, arguments, environment: environment)
        let fields = ["email": "mint@example.com", "password": "correct horse"]
        #expect(try await post(server, "/v1/accounts", fields).status == 201)
        await expectEventually { !receiver.received.isEmpty }
        let data = try #require(receiver.received.first).decoded(MailRequest.self).data
        #expect(data.subject == "Welcome")
        #expect(data.text == "Use \(data.token).")
    }

    struct WrongSetting: Sendable {
        let arguments: [String]
        let name: String

        init(_ arguments: String..., name: String) {
            self.arguments = arguments
            self.name = name
        }

        /// Adds arguments to correct settings.
        static func also(_ arguments: String..., name: String) -> WrongSetting {
            WrongSetting(all: common + arguments, name: name)
        }

        private init(all arguments: [String], name: String) {
            self.arguments = arguments
            self.name = name
        }
    }

    @Test(
        arguments: [
            WrongSetting("--mail-from", "a@b.example", name: "accounts"),
            WrongSetting("--accounts", "--mail-from", "a b", name: "mail-from"),
            WrongSetting("--accounts", "--mail-server", "smtp://mail.example", name: "mail-from"),
            WrongSetting("--accounts", "--mail-from", "a@b.example", name: "mail-links"),
            WrongSetting(
                "--accounts", "--mail-from", "a@b.example", "--mail-links", "http://b.example", name: "mail-links"),
            .also(name: "mail-server"),
            .also("--mail-server", "mail.example", name: "mail-server"),
            .also("--mail-server", "smtp://garden:secret@mail.example", name: "mail-server"),
            .also("--mail-server", "smtp://mail.example", "--mail-webhook", "https://b.example", name: "mail-webhook"),
            .also("--mail-server", "smtp://mail.example", "--mail-username", "garden", name: "mail-username"),
            .also("--mail-server", "smtp://mail.example", "--mail-password-file", "none", name: "mail-password-file"),
            .also("--mail-server", "smtp://mail.example", "--mail-certificates", "none", name: "mail-certificates"),
            .also("--mail-webhook", "http://b.example", name: "mail-webhook"),
            .also("--mail-webhook", "https://b.example", name: "mail-webhook-secret-file"),
            .also("--mail-webhook", "https://b.example", "--mail-username", "garden", name: "mail-username"),
            .also("--mail-webhook-file", "none", name: "mail-webhook-file"),
        ])
    func `a setting that makes no sense is named`(_ setting: WrongSetting) async throws {
        let result = try await till.run(arguments: ["serve", "--print-configuration"] + setting.arguments)
        #expect(result.status == 1)
        #expect(result.error.contains(setting.name), "\(result.error)")
        #expect(!result.error.contains("secret@"))
    }

    @Test func `a mailer's address with a secret in it stays in its file`() async throws {
        let (address, secret) = (till.folder.file("address"), till.folder.file("secret"))
        try Data("https://mailer.example/hooks/hidden\n".utf8).write(to: address)
        try Data("whsec_\(Data(repeating: 7, count: 32).base64EncodedString())\n".utf8).write(to: secret)
        let files = ["--mail-webhook-file", address.path, "--mail-webhook-secret-file", secret.path]
        let printed = try await till.run(
            arguments: ["serve", "--print-configuration"] + Self.common + files)
        #expect(printed.status == 0, "\(printed.error)")
        #expect(!printed.output.contains("hidden"))
        let again = till.folder.file("printed.json")
        try Data(printed.output.utf8).write(to: again)
        let read = try await till.run(arguments: ["serve", "--config", again.path, "--print-configuration"])
        #expect(read.output == printed.output)
        let both = try await till.run(
            arguments: ["serve", "--print-configuration", "--mail-webhook", "https://b.example"] + Self.common + files)
        #expect(both.status == 1)
    }

    @Test func `the configuration is printed without secrets`() async throws {
        let file = till.folder.file("password")
        try Data("file secret\n".utf8).write(to: file)
        let server = Self.common + ["--mail-server", "smtp://mail.example:25", "--mail-username", "garden"]
        for (arguments, environment) in [
            (server, ["TILL_MAIL_PASSWORD": "environment secret"]),
            (server + ["--mail-password-file", file.path], [:]),
        ] {
            let printed = try await till.run(
                arguments: ["serve", "--print-configuration"] + arguments, environment: environment)
            #expect(printed.status == 0, "\(printed.error)")
            #expect(!printed.output.contains(" secret"))
            let report = try printed.json()
            #expect(report["mail-server"] == .string("smtp://mail.example:25"))
            #expect(report["mail-username"] == .string("garden"))
            #expect(report["mail-from"] == .string("Garden <no-reply@garden.example>"))
        }
    }
}
