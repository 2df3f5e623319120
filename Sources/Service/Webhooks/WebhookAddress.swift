import Commerce
import Dispatch
import HTTPSupport
import NIOCore
import Webhooks

/// The machine that a webhook's messages are sent to: where its name leads is found out once, looked at, and then connected to,
/// so that a name which leads elsewhere a moment later leads nowhere.
package struct WebhookAddress: Sendable {
    /// Why nothing is sent.
    enum Refusal: String, Error {
        case addressPrivate
        case hostUnknown
    }

    /// As text.
    let text: String

    package init(text: String) {
        self.text = text
    }

    /// Threads of their own: whoever asks a name's server may wait for long.
    private static let lookups = DispatchQueue(label: "till.names", attributes: .concurrent)
    private static let patience = Duration.seconds(10)

    /// Asks where a name leads.
    ///
    /// - Throws: `Refusal`.
    static func find(_ url: WebhookURL, allowsPrivate: Bool) async throws -> WebhookAddress {
        let (answers, answer) = AsyncStream<Result<WebhookAddress, Refusal>>.makeStream()
        lookups.async {
            answer.yield(Result { () throws(Refusal) in try WebhookAddress(of: url, allowsPrivate: allowsPrivate) })
            answer.finish()
        }
        do {
            return try await Deadline.run(within: patience) {
                for await found in answers { return try found.get() }
                throw Refusal.hostUnknown
            }
        } catch is Deadline.Passed {
            throw Refusal.hostUnknown
        }
    }

    /// Waits for the name's server.
    private init(of url: WebhookURL, allowsPrivate: Bool) throws(Refusal) {
        // The first that is found, as the system has ordered them.
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
