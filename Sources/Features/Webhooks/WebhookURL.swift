import Foundation

/// The URL of a webhook.
package struct WebhookURL: Hashable, Sendable {
    /// The largest number of bytes.
    package static let maximumLength = 2048

    package let text: String
    /// The host name, or the IP address without brackets.
    package let host: String
    package let port: Int

    /// - Parameter allowsPlain: True if the URL may have the scheme `http`, for example on a developer's machine.
    /// - Throws: `WebhookError`, `urlInvalid`.
    package init(_ text: String, allowsPlain: Bool) throws(WebhookError) {
        guard (1...Self.maximumLength).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let url = URL(string: text, encodingInvalidCharacters: false)
        else { throw .urlInvalid(reason: "be a URL of at most \(Self.maximumLength) ASCII characters") }
        let scheme = url.scheme?.lowercased()
        guard scheme == "https" || allowsPlain && scheme == "http" else {
            throw .urlInvalid(
                reason: allowsPlain
                    ? "have the scheme https or http"
                    : "have the scheme https; set `webhook-private-addresses` to allow http")
        }
        guard url.user == nil, url.password == nil, url.fragment == nil else {
            throw .urlInvalid(reason: "have no user, no password and no fragment")
        }
        let host = url.host(percentEncoded: true) ?? ""
        guard let match = host.wholeMatch(of: /[A-Za-z0-9._-]{1,253}|\[?([0-9A-Fa-f:.]{2,45})\]?/),
            (1...65535).contains(url.port ?? 443)
        else { throw .urlInvalid(reason: "have a host and, if it has a port, one from 1 to 65535") }
        self.text = text
        self.host = String(match.1 ?? match.0)
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }
}
