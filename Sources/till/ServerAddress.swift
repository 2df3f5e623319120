import ArgumentParser
import Foundation

/// The address of a server: a scheme, a host and perhaps a port.
struct ServerAddress: ExpressibleByArgument {
    let url: URL

    init?(argument: String) {
        let text = argument.hasSuffix("/") ? String(argument.dropLast()) : argument
        guard let url = URL(string: text), let scheme = url.scheme, ["http", "https"].contains(scheme),
            let host = url.host(), !host.isEmpty, url.path.isEmpty, url.query == nil, url.user == nil
        else { return nil }
        self.url = url
    }

    /// True if nobody on the network can read a credential that is sent to the address.
    var isConfidential: Bool { url.scheme == "https" || isLoopback }

    /// True if the host is `localhost`, `::1` or in 127.0.0.0/8.
    private var isLoopback: Bool {
        guard let host = url.host()?.lowercased() else { return false }
        if ["localhost", "::1", "[::1]"].contains(host) { return true }
        // In network byte order: the first byte is the network's.
        var address = in_addr()
        guard inet_pton(AF_INET, host, &address) == 1 else { return false }
        return withUnsafeBytes(of: address) { $0.first == 127 }
    }
}
