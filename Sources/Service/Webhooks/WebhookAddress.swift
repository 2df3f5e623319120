import Dispatch
import Features
import HTTPSupport
import NIOCore
import Proofs

/// The resolved address of a webhook's receiver.
///
/// The name is resolved once, checked, and then connected to. A name that resolves differently a moment later has no effect
/// (DNS rebinding).
package struct WebhookAddress: Sendable {
    /// A reason to send nothing.
    enum Refusal: String, Error {
        case addressPrivate
        case hostUnknown
    }

    /// The IP address as text.
    let text: String

    package init(text: String) {
        self.text = text
    }

    /// Separate threads, because a name server may answer late.
    private static let lookups = DispatchQueue(label: "till.names", attributes: .concurrent)
    private static let lookupTimeout = Duration.seconds(10)

    /// Resolves the name of a receiver.
    ///
    /// - Throws: `Refusal`.
    static func find(_ url: WebhookURL, allowsPrivate: Bool) async throws -> WebhookAddress {
        let (answers, answer) = AsyncStream<Result<WebhookAddress, Refusal>>.makeStream()
        lookups.async {
            answer.yield(Result { () throws(Refusal) in try WebhookAddress(of: url, allowsPrivate: allowsPrivate) })
            answer.finish()
        }
        do {
            return try await Deadline.run(within: lookupTimeout) {
                for await found in answers { return try found.get() }
                throw Refusal.hostUnknown
            }
        } catch is Deadline.Passed {
            throw Refusal.hostUnknown
        }
    }

    /// Resolves the name. This blocks until the name server answers.
    private init(of url: WebhookURL, allowsPrivate: Bool) throws(Refusal) {
        // The first address, in the order of the system.
        guard let address = try? SocketAddress.makeAddressResolvingHost(url.host, port: url.port),
            let text = address.ipAddress
        else { throw .hostUnknown }
        guard allowsPrivate || Self.isPublic(address) else { throw .addressPrivate }
        self.text = text
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
