import HTTPTypes
import Hummingbird
import NIOCore

/// The client addresses by which limits apply. The service may be behind the team's own proxies.
package struct ClientAddresses: Sendable {
    /// The number of proxies in front of the service. Each adds the address of its client to `X-Forwarded-For`. Any
    /// client can forge the entries further left.
    package let proxies: Int

    package init(proxies: Int) {
        self.proxies = proxies
    }

    /// The address that identifies a client. Empty if there is none, as within the process.
    package func address(of request: Request, _ context: ServiceContext) -> String {
        guard proxies > 0, let name = HTTPField.Name.forwardedFor else {
            return Self.network(context.remoteAddress)
        }
        let forwarded = request.headers[values: name].flatMap { $0.split(separator: ",") }
        guard forwarded.count >= proxies else { return Self.network(context.remoteAddress) }
        return Self.network(Self.address(forwarded[forwarded.count - proxies].filter { !$0.isWhitespace }))
    }

    /// Parses an address as proxies write it, with or without a port. An IPv6 address with a port is in brackets.
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

    /// The network of an address. For IPv6 it is the first 64 bits, because one customer has all their addresses.
    package static func network(_ address: SocketAddress?) -> String {
        guard case .v6(let version6) = address else { return address?.ipAddress ?? "" }
        let bytes = withUnsafeBytes(of: version6.address.sin6_addr) { Array($0) }
        // An IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2) equals the IPv4 address.
        let isVersion4 = bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        return isVersion4
            ? bytes.suffix(4).map(String.init).joined(separator: ".")
            : bytes.prefix(8).map(String.init).joined(separator: ":")
    }

    /// The IPv6 site of a network, its first 48 bits. Nil for an IPv4 address.
    package static func site(of network: String) -> String? {
        let bytes = network.split(separator: ":")
        return bytes.count == 8 ? bytes.prefix(6).joined(separator: ":") : nil
    }
}
