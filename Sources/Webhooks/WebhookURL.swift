import Foundation

/// Where a webhook's messages are sent.
public struct WebhookURL: Hashable, Sendable {
    /// In bytes.
    public static let maximumLength = 2048

    public let text: String
    /// A name, or an address without brackets.
    public let host: String
    public let port: Int

    /// - Parameter allowsPlain: Whether it may be `http`, as on a machine of a developer's.
    /// - Throws: `WebhookError`, `urlInvalid`.
    public init(_ text: String, allowsPlain: Bool) throws(WebhookError) {
        guard (1...Self.maximumLength).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let url = URL(string: text, encodingInvalidCharacters: false)
        else { throw .urlInvalid(reason: "a URL of up to \(Self.maximumLength) ASCII characters") }
        let scheme = url.scheme?.lowercased()
        guard scheme == "https" || allowsPlain && scheme == "http" else {
            throw .urlInvalid(
                reason: allowsPlain
                    ? "a URL of https, or http"
                    : "https; plain http is for addresses of your own (webhook-private-addresses)")
        }
        guard url.user == nil, url.password == nil, url.fragment == nil else {
            throw .urlInvalid(reason: "without a user, a password and a fragment")
        }
        let host = url.host(percentEncoded: true) ?? ""
        guard let match = host.wholeMatch(of: /[A-Za-z0-9._-]{1,253}|\[?([0-9A-Fa-f:.]{2,45})\]?/),
            (1...65535).contains(url.port ?? 443)
        else { throw .urlInvalid(reason: "one with a host, and a port from 1 to 65535 where it names one") }
        self.text = text
        self.host = String(match.1 ?? match.0)
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }
}
