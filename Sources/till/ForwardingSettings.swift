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
        var targets: [ForwardingTarget] = []
        for text in try settings.texts(name) + Self.lines(of: "\(name)-file", settings) {
            guard let url = try? WebhookURL(receiver: text, allowsPrivate: allowsPrivate) else {
                throw settings.failure(
                    name,
                    "a list of https URLs with public addresses, without a user, a password and a fragment; "
                        + "webhook-private-addresses allows others")
            }
            targets.append(ForwardingTarget(url))
        }
        try settings.require(
            targets.count <= NotificationForwarding.maximumTargets && Set(targets).count == targets.count, name,
            "a list of at most \(NotificationForwarding.maximumTargets) URLs, each once")
        self = targets
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
