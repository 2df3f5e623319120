import HTTPTypes
import Hummingbird
import NIOCore

/// The addresses that clients are told apart by, behind any number of the team's own proxies.
package struct ClientAddresses: Sendable {
    /// How many proxies stand before the service, each of which adds the address it was called from to `X-Forwarded-For`.
    /// Whatever stands further left in the header anybody may have written.
    package let proxies: Int

    package init(proxies: Int) {
        self.proxies = proxies
    }

    /// An address by which clients are told apart; empty where there is none, as within the process.
    package func address(of request: Request, _ context: ServiceContext) -> String {
        guard proxies > 0, let name = HTTPField.Name.forwardedFor else {
            return Self.network(context.remoteAddress)
        }
        let forwarded = request.headers[values: name].flatMap { $0.split(separator: ",") }
        guard forwarded.count >= proxies else { return Self.network(context.remoteAddress) }
        return Self.network(Self.address(forwarded[forwarded.count - proxies].filter { !$0.isWhitespace }))
    }

    /// As proxies write it: with a port behind it or not, and then in brackets where it has colons of its own.
    private static func address(_ text: String) -> SocketAddress? {
        let text = text.prefix(64)
        let host =
            if text.hasPrefix("[") {
                text.dropFirst().prefix { $0 != "]" }
            } else if text.count(where: { $0 == ":" }) == 1 {
                text.prefix { $0 != ":" }
            } else {
                text
            }
        return try? SocketAddress(ipAddress: String(host), port: 0)
    }

    /// Of IPv6 the first 64 bits, all of whose addresses are one customer's.
    package static func network(_ address: SocketAddress?) -> String {
        guard case .v6(let version6) = address else { return address?.ipAddress ?? "" }
        let bytes = withUnsafeBytes(of: version6.address.sin6_addr) { Array($0) }
        // An address of IPv4 in the form of IPv6 (RFC 4291 section 2.5.5.2) is that of IPv4.
        let isVersion4 = bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        return isVersion4
            ? bytes.suffix(4).map(String.init).joined(separator: ".")
            : bytes.prefix(8).map(String.init).joined(separator: ":")
    }
}
