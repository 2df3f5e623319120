import Foundation

/// A mail server with its address, encryption and credentials.
package struct MailServer: Hashable, Sendable {
    /// The encryption of the connection. The client verifies the server's certificate.
    package enum Encryption: Hashable, Sendable {
        /// TLS from the first byte.
        case implicit
        /// TLS before anything of the message is sent (STARTTLS). A server without it gets no message.
        case startTLS
        /// None: for a server on this machine.
        case none
    }

    package struct Credentials: Hashable, Sendable {
        let username: String
        let password: String

        package init(username: String, password: String) {
            self.username = username
            self.password = password
        }
    }

    /// The longest address, in bytes.
    static let maximumLength = 512

    /// A name, or an address without brackets.
    package let host: String
    package let port: Int
    package let encryption: Encryption
    let credentials: Credentials?
    /// The path of the certificates, in PEM, that end a trusted chain; nil for those of the system.
    let certificates: String?

    /// - Parameters:
    ///   - text: `smtp://host:port` or `smtps://host:port`.
    ///   - credentials: Nil for a server without authentication.
    ///   - certificates: The path of a file; nil for the certificates that the system trusts.
    /// - Returns: Nil for a text of another form.
    package init?(_ text: String, credentials: Credentials? = nil, certificates: String? = nil) {
        guard text.utf8.count <= Self.maximumLength, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(),
            ["smtp", "smtps"].contains(scheme), let host = url.host.map(Self.withoutBrackets), !host.isEmpty,
            url.user == nil, url.password == nil, ["", "/"].contains(url.path), url.query == nil, url.fragment == nil
        else { return nil }
        let port = url.port ?? (scheme == "smtps" ? 465 : 587)
        guard (1...65_535).contains(port) else { return nil }
        self.host = host
        self.port = port
        encryption =
            if scheme == "smtps" {
                .implicit
            } else if Self.isLoopback(host), certificates == nil {
                .none
            } else {
                .startTLS
            }
        self.credentials = credentials
        self.certificates = certificates
    }

    /// The address without credentials.
    package var url: String {
        "\(encryption == .implicit ? "smtps" : "smtp")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    private static func withoutBrackets(_ host: String) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }

    private static func isLoopback(_ host: String) -> Bool {
        let host = host.lowercased()
        return ["localhost", "::1"].contains(host) || host.wholeMatch(of: /127(\.[0-9]{1,3}){3}/) != nil
    }
}
