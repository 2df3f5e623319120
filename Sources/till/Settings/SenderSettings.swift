import Features
import Foundation
import Service

struct MailSettings {
    /// The largest file with a secret, in bytes.
    private static let maximumSecretSize = 4096

    let links: MailLinks
    /// The folder of the templates; nil for the built-in texts of Till.
    let templateFolder: String?
    /// The way to the team's mail server, or to its own mailer.
    let transport: MailTransport

    /// - Returns: Nil if the service sends no mail.
    /// - Throws: `ConfigurationError`.
    init?(_ settings: ServeSettings) throws {
        let names = SettingGroup.mail.settings.map(\.name)
        guard names.contains(where: settings.isSet) else { return nil }
        if !settings.flag("accounts") { try settings.refuse(names, without: "accounts") }
        guard let text = settings.text("mail-from"), let sender = MailAddress(text) else {
            throw settings.failure("mail-from", "an address such as \"Garden <no-reply@garden.example>\"")
        }
        guard let links = settings.text("mail-links").flatMap({ MailLinks($0) }) else {
            throw settings.failure(
                "mail-links", "the https address of a page of yours, without a fragment; http is for this machine's own"
            )
        }
        self.links = links
        templateFolder = settings.text("mail-templates")
        switch (settings.text("mail-server"), try Self.secret("mail-webhook", settings)) {
        case (let server?, nil):
            transport = .server(try Self.server(server, settings), from: sender)
        case (nil, let webhook?):
            let (url, secret) = try Self.webhook(webhook, settings)
            transport = .mailer(url, secret, from: text)
        default:
            throw settings.failure("mail-server", "set, or mail-webhook or mail-webhook-file instead, but not both")
        }
    }

    /// - Throws: `ConfigurationError` for a file that is no template.
    func templates() throws(ConfigurationError) -> MailTemplates {
        do {
            return try MailTemplates(folder: templateFolder.map { URL(filePath: $0, directoryHint: .isDirectory) })
        } catch {
            throw ConfigurationError(message: error.description)
        }
    }

    private static func server(_ text: String, _ settings: ServeSettings) throws(ConfigurationError) -> MailServer {
        try settings.refuse(["mail-webhook-secret", "mail-webhook-secret-file"], without: "mail-webhook")
        let password = try secret("mail-password", settings)
        let credentials: (username: String, password: String)?
        switch (settings.text("mail-username"), password) {
        case (let username?, let password?): credentials = (username, password)
        case (nil, nil): credentials = nil
        default:
            throw settings.failure("mail-username", "set together with mail-password-file, or none of the two")
        }
        try settings.requireFile("mail-certificates")
        let server = MailServer(text, credentials: credentials, certificates: settings.text("mail-certificates"))
        guard let server else {
            throw settings.failure(
                "mail-server",
                "of the form smtp://HOST:PORT or smtps://HOST:PORT, without a user and a password: "
                    + "mail-username and mail-password-file have these")
        }
        return server
    }

    private static func webhook(
        _ text: String, _ settings: ServeSettings
    ) throws(ConfigurationError) -> (WebhookURL, WebhookSecret) {
        try settings.refuse(
            ["mail-certificates", "mail-username", "mail-password", "mail-password-file"], without: "mail-server")
        guard let url = try? WebhookURL(text, allowsPlain: true),
            text.lowercased().hasPrefix("https:") || ["localhost", "127.0.0.1", "::1"].contains(url.host)
        else {
            throw settings.failure(
                "mail-webhook", "an https URL without a user, a password and a fragment; http is for this machine's own"
            )
        }
        guard let secret = try secret("mail-webhook-secret", settings).flatMap({ WebhookSecret($0) }) else {
            throw settings.failure(
                "mail-webhook-secret-file",
                "a file with whsec_ and at least 24 bytes in base64: "
                    + "`echo whsec_$(openssl rand -base64 32)` makes one")
        }
        return (url, secret)
    }

    /// A secret, from a setting or from the file that another setting names.
    private static func secret(_ name: String, _ settings: ServeSettings) throws(ConfigurationError) -> String? {
        let file = "\(name)-file"
        try settings.require(
            settings.text(name) == nil || settings.text(file) == nil, file, "left out if \(name) is set")
        guard let text = try settings.content(ofFile: file, upTo: maximumSecretSize) else { return settings.text(name) }
        let secret = text.trimmingCharacters(in: .newlines)
        try settings.require(!secret.isEmpty, file, "a file that is not empty")
        return secret
    }
}

extension [ForwardingTarget] {
    /// The largest file with addresses, in bytes.
    private static let maximumFile = 16 * 1024

    /// The servers that receive a copy of each notification.
    ///
    /// - Throws: `ConfigurationError` for an address that webhooks may not have, either.
    init(_ settings: ServeSettings) throws(ConfigurationError) {
        let (name, allowsPrivate) = ("forward-notifications", settings.flag("webhook-private-addresses"))
        let expected =
            "a list of https URLs with public addresses, without a user, a password and a fragment; "
            + "webhook-private-addresses allows others"
        var targets: [ForwardingTarget] = []
        for text in try settings.texts(name) + Self.lines(of: "\(name)-file", settings) {
            guard let url = try? WebhookURL(receiver: text, allowsPrivate: allowsPrivate) else {
                throw settings.failure(name, expected)
            }
            targets.append(ForwardingTarget(url))
        }
        for app in settings.apps {
            for text in app.forwardNotifications ?? [] {
                guard let url = try? WebhookURL(receiver: text, allowsPrivate: allowsPrivate),
                    targets.add(ForwardingTarget(url, apps: [app.bundleIdentifier]))
                else {
                    throw ConfigurationError(
                        message:
                            "`\(name)` of the app \"\(app.bundleIdentifier)\" must be \(expected). No server may receive "
                            + "a notification twice.")
                }
            }
        }
        try settings.require(
            targets.count <= NotificationForwarding.maximumTargets && Set(targets.map(\.url)).count == targets.count,
            name, "a list of at most \(NotificationForwarding.maximumTargets) URLs, each once")
        self = targets
    }

    /// Adds the apps of a server, or the server.
    ///
    /// - Returns: False if the server receives the notifications of these apps already.
    private mutating func add(_ target: ForwardingTarget) -> Bool {
        guard let index = firstIndex(where: { $0.url == target.url }) else {
            append(target)
            return true
        }
        return self[index].receive(target.apps ?? [])
    }

    /// The lines of the file that a setting names, without empty ones; none without the setting.
    private static func lines(of name: String, _ settings: ServeSettings) throws(ConfigurationError) -> [String] {
        (try settings.content(ofFile: name, upTo: maximumFile) ?? "").split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
