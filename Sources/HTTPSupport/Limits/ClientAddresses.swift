import HTTPTypes
import Hummingbird
import Ledger
import NIOCore

/// The client networks by which limits apply. The service may be behind the team's own proxies.
package struct ClientAddresses: Sendable {
    /// The number of proxies in front of the service. Each adds the address of its client to `X-Forwarded-For`. Any
    /// client can forge the entries further left.
    let proxies: Int

    /// The network of a client. Unknown if there is no address, as within the process.
    package func network(of request: Request, _ context: ServiceContext) -> ClientNetwork {
        guard proxies > 0, let name = HTTPField.Name.forwardedFor else {
            return ClientNetwork(context.remoteAddress)
        }
        let forwarded = request.headers[values: name].flatMap { $0.split(separator: ",") }
        guard forwarded.count >= proxies else { return ClientNetwork(context.remoteAddress) }
        return ClientNetwork(forwarded: String(forwarded[forwarded.count - proxies].filter { !$0.isWhitespace }))
    }
}

extension ClientNetwork {
    /// The network of the peer of a connection.
    package init(_ address: SocketAddress?) {
        switch address {
        case .v4(let version4): self.init(address: withUnsafeBytes(of: version4.address.sin_addr) { Array($0) })
        case .v6(let version6): self.init(address: withUnsafeBytes(of: version6.address.sin6_addr) { Array($0) })
        default: self = .unknown
        }
    }

    /// The network of an address as proxies write it, with or without a port. An IPv6 address with a port is in brackets.
    package init(forwarded text: String) {
        let text = text.prefix(64)
        let host =
            if text.hasPrefix("[") {
                text.dropFirst().prefix { $0 != "]" }
            } else if text.count(where: { $0 == ":" }) == 1 {
                text.prefix { $0 != ":" }
            } else {
                text
            }
        self.init(try? SocketAddress(ipAddress: String(host), port: 0))
    }
}
