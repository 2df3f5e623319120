import Foundation

/// The team's page that mailed links open.
///
/// The token follows in the fragment, which browsers send to no server. So it is in no access log and in no `Referer`.
package struct MailLinks: Hashable, Sendable {
    /// The longest address, in bytes.
    static let maximumLength = 1024

    /// The address without a fragment.
    package let url: String

    /// - Parameter text: An `https` URL, or an address of the app's own scheme; `http` for this machine.
    /// - Returns: Nil for an invalid address.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maximumLength, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(), url.fragment == nil,
            url.user == nil,
            url.password == nil, let host = url.host, !host.isEmpty
        else { return nil }
        let isLoopback = ["localhost", "127.0.0.1", "[::1]", "::1"].contains(host)
        guard scheme != "http" || isLoopback, !["ftp", "javascript", "data", "file"].contains(scheme)
        else { return nil }
        self.url = text
    }

    /// The address for an action, such as `https://garden.example/account#reset=tl_…`.
    func link(_ action: String, _ token: LinkToken) -> String { "\(url)#\(action)=\(token.text)" }
}
