import NIOCore
import Webhooks

/// The machine that a webhook's messages are sent to: where its name leads is found out once, looked at, and then connected to,
/// so that a name which leads elsewhere a moment later leads nowhere.
struct WebhookAddress: Sendable {
    /// Why nothing is sent.
    enum Refusal: String, Error {
        case addressPrivate
        case hostUnknown
    }

    /// As text.
    let text: String

    /// Waits for the names' service.
    ///
    /// - Throws: `Refusal`.
    init(of url: WebhookURL, allowsPrivate: Bool) throws(Refusal) {
        guard let address = try? SocketAddress.makeAddressResolvingHost(url.host, port: url.port),
            let text = address.ipAddress
        else { throw .hostUnknown }
        guard allowsPrivate || Self.isPublic(address) else { throw .addressPrivate }
        self.text = text
    }

    /// Whether an address says by itself that it is private, without anybody being asked where it leads.
    static func isPlainlyPrivate(_ url: WebhookURL) -> Bool {
        let host = url.host.lowercased()
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        return (try? SocketAddress(ipAddress: host, port: url.port)).map { !isPublic($0) } ?? false
    }

    private static func isPublic(_ address: SocketAddress) -> Bool {
        switch address {
        case .v4(let address):
            AddressRange.isPublic(withUnsafeBytes(of: address.address.sin_addr) { Array($0) })
        case .v6(let address):
            AddressRange.isPublic(withUnsafeBytes(of: address.address.sin6_addr) { Array($0) })
        case .unixDomainSocket: false
        }
    }
}
