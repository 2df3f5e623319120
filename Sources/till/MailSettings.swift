import Accounts
import Commerce
import Foundation
import Mailer
import Service
import Webhooks

/// The settings of mails about accounts.
struct MailSettings {
    /// The way to a mailbox.
    private enum Way {
        case server(MailServer)
        case webhook(WebhookURL, WebhookSecret)
    }

    /// The largest file with a secret, in bytes.
    private static let maximumSecretSize = 4096
    private static let names = [
        "mail-from", "mail-links", "mail-server", "mail-certificates", "mail-username", "mail-password",
        "mail-password-file", "mail-webhook", "mail-webhook-file", "mail-webhook-secret", "mail-webhook-secret-file",
        "mail-templates",
    ]

    /// The sender, as it was set.
    let from: String
    let links: MailLinks
    let username: String?
    let passwordFile: String?
    let certificates: String?
    let webhookFile: String?
    let webhookSecretFile: String?
    /// nil for Till's own texts.
    let templateFolder: String?
    private let sender: MailAddress
    private let way: Way

    /// - Returns: nil if no mail is to be sent.
    /// - Throws: `ConfigurationError`.
    init?(_ settings: ServeSettings, hasAccounts: Bool) async throws {
        var values: [String: String] = [:]
        for name in Self.names { values[name] = try await settings.text(name) }
        guard let first = Self.names.first(where: { values[$0] != nil }) else { return nil }
        guard hasAccounts else { throw ConfigurationError(setting: first, expected: "set together with accounts") }
        guard let text = values["mail-from"], let sender = MailAddress(text) else {
            throw ConfigurationError(
                setting: "mail-from", expected: "an address such as \"Garden <no-reply@garden.example>\"")
        }
        guard let links = values["mail-links"].flatMap({ MailLinks($0) }) else {
            throw ConfigurationError(
                setting: "mail-links",
                expected: "the https address of a page of yours, without a fragment; http is for this machine's own")
        }
        from = text
        self.sender = sender
        self.links = links
        username = values["mail-username"]
        passwordFile = values["mail-password-file"]
        certificates = values["mail-certificates"]
        webhookFile = values["mail-webhook-file"]
        webhookSecretFile = values["mail-webhook-secret-file"]
        templateFolder = values["mail-templates"]
        switch (values["mail-server"], try Self.secret("mail-webhook", values)) {
        case (let server?, nil): way = .server(try Self.server(server, values))
        case (nil, let webhook?): way = try Self.webhook(webhook, values)
        default:
            throw ConfigurationError(setting: "mail-server", expected: "set, or mail-webhook instead, but not both")
        }
    }

    /// The mail server's address; nil for a webhook.
    var serverURL: String? { if case .server(let server) = way { server.url } else { nil } }

    /// nil for a mail server, and for a URL in a file, which may have a secret in it.
    var webhookURL: String? {
        guard webhookFile == nil, case .webhook(let url, _) = way else { return nil }
        return url.text
    }

    /// - Throws: `ConfigurationError` for a file that is no template.
    func templates() throws(ConfigurationError) -> MailTemplates {
        do {
            return try MailTemplates(folder: templateFolder.map { URL(filePath: $0, directoryHint: .isDirectory) })
        } catch {
            throw ConfigurationError(message: error.description)
        }
    }

    func transport() -> any MailTransport {
        switch way {
        case .server(let server): SMTPMailTransport(server: server, sender: sender)
        case .webhook(let url, let secret):
            WebhookMailTransport(url: url, secret: secret, sender: from, links: links, clock: SystemClock())
        }
    }

    private static func server(
        _ text: String,
        _ values: [String: String]
    ) throws(ConfigurationError) -> MailServer {
        try refuse(["mail-webhook-secret", "mail-webhook-secret-file"], in: values, without: "mail-webhook")
        let password = try secret("mail-password", values)
        let credentials: MailServer.Credentials?
        switch (values["mail-username"], password) {
        case (let username?, let password?): credentials = .init(username: username, password: password)
        case (nil, nil): credentials = nil
        default:
            throw ConfigurationError(
                setting: "mail-username", expected: "there together with mail-password-file, or none of the two")
        }
        if let file = values["mail-certificates"], !FileManager.default.isReadableFile(atPath: file) {
            throw ConfigurationError(setting: "mail-certificates", expected: "a file that can be read")
        }
        let server = MailServer(text, credentials: credentials, certificates: values["mail-certificates"])
        guard let server else {
            throw ConfigurationError(
                setting: "mail-server",
                expected: "of the form smtp://HOST:PORT or smtps://HOST:PORT, without a user and a password: "
                    + "mail-username and mail-password-file have these")
        }
        return server
    }

    private static func webhook(_ text: String, _ values: [String: String]) throws(ConfigurationError) -> Way {
        try refuse(
            ["mail-certificates", "mail-username", "mail-password", "mail-password-file"], in: values,
            without: "mail-server")
        guard let url = try? WebhookURL(text, allowsPlain: true),
            text.lowercased().hasPrefix("https:") || ["localhost", "127.0.0.1", "::1"].contains(url.host)
        else {
            throw ConfigurationError(
                setting: "mail-webhook",
                expected: "an https URL without a user, a password and a fragment; http is for this machine's own")
        }
        guard let secret = try secret("mail-webhook-secret", values).flatMap({ WebhookSecret($0) }) else {
            throw ConfigurationError(
                setting: "mail-webhook-secret-file",
                expected: "a file with whsec_ and at least 24 bytes in base64: "
                    + "`echo whsec_$(openssl rand -base64 32)` makes one")
        }
        return .webhook(url, secret)
    }

    private static func refuse(
        _ names: [String],
        in values: [String: String],
        without other: String
    ) throws(ConfigurationError) {
        guard let name = names.first(where: { values[$0] != nil }) else { return }
        throw ConfigurationError(setting: name, expected: "set together with \(other)")
    }

    /// A secret, from a setting or from the file that another setting names.
    private static func secret(_ name: String, _ values: [String: String]) throws(ConfigurationError) -> String? {
        guard let file = values["\(name)-file"] else { return values[name] }
        guard values[name] == nil else {
            throw ConfigurationError(setting: "\(name)-file", expected: "left out where \(name) is set")
        }
        let bytes = (try? FileHandle(forReadingFrom: URL(filePath: file)))
            .flatMap { try? $0.read(upToCount: maximumSecretSize + 1) }
        guard let bytes, bytes.count <= maximumSecretSize, let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationError(
                setting: "\(name)-file", expected: "a file of up to \(maximumSecretSize) bytes that can be read")
        }
        let secret = text.trimmingCharacters(in: .newlines)
        guard !secret.isEmpty else {
            throw ConfigurationError(setting: "\(name)-file", expected: "a file that is not empty")
        }
        return secret
    }
}

extension ServeConfiguration {
    /// True if users get mails about their accounts.
    var sendsMail: Bool { mail != nil }
}
