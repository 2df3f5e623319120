import Features
import Foundation
import Proofs

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
        guard let file = settings.text(name) else { return [] }
        let bytes = (try? FileHandle(forReadingFrom: URL(filePath: file)))
            .flatMap { try? $0.read(upToCount: maximumFile + 1) }
        guard let bytes, bytes.count <= maximumFile, let text = String(validating: bytes, as: UTF8.self) else {
            throw settings.failure(name, "a file of up to \(maximumFile) bytes that can be read")
        }
        return text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }
}
