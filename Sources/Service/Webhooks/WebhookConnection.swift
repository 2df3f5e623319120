import AsyncHTTPClient
import Dispatch
import Features
import HTTPSupport
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// The connection to one receiver. It follows no redirect. Only the beginning of an answer's body is kept, for people.
package struct WebhookConnection: Sendable {
    /// The maximum number of concurrent messages.
    static let maximumAtOnce = 16
    private static let answerTimeout = Duration.seconds(15)
    /// The most of an answer's body that is read, in bytes. Reading it lets the connection be used again.
    private static let maximumAnswer = 64 * 1024
    private static let bodyTimeout = Duration.seconds(1)

    private let url: WebhookURL
    private let client: HTTPClient

    /// Opens a connection to a receiver for the time that `body` runs.
    package static func open<Value: Sendable>(
        to url: WebhookURL,
        at address: WebhookAddress,
        _ body: (WebhookConnection) async throws -> Value
    ) async throws -> Value {
        var configuration = HTTPClient.Configuration.outgoing(.disallow)
        // No message waits for a connection, which would use up its timeout.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = maximumAtOnce
        configuration.timeout.connect = .seconds(5)
        // An IP address in place of a name is connected to directly.
        configuration.dnsOverride = [url.host: address.text]
        return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            try await body(WebhookConnection(url: url, client: client))
        }
    }

    /// Sends one message to a receiver, over a connection of its own.
    ///
    /// - Parameter webhook: Returns the message, once the receiver's name is resolved.
    static func send(
        to url: WebhookURL, allowsPrivateAddresses: Bool, _ webhook: () -> SignedWebhook
    ) async throws -> WebhookDelivery.Outcome {
        do {
            let address = try await WebhookAddress.find(url, allowsPrivate: allowsPrivateAddresses)
            return try await open(to: url, at: address) { .answered(status: try await $0.send(webhook()).status) }
        } catch let refusal as WebhookAddress.Refusal {
            return .unanswered(code: refusal.rawValue)
        } catch let failure as Failure {
            return .unanswered(code: failure.rawValue)
        }
    }

    /// A reason for a missing answer.
    package enum Failure: String, Error {
        case timedOut
        case unreachable
        case tlsFailed
        case connectionEnded
        case other
    }

    package struct Answer: Sendable {
        package let status: Int
        /// The beginning of the body; nil if there is none.
        package let response: WebhookResponse?
    }

    package func send(_ webhook: SignedWebhook) async throws(Failure) -> Answer {
        var request = HTTPClientRequest(url: url.text)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: webhook.mediaType)
        request.headers.add(name: "User-Agent", value: "Till")
        for header in webhook.headers { request.headers.add(name: header.name, value: header.value) }
        request.body = .bytes(ByteBuffer(bytes: webhook.body))
        do {
            let response = try await Deadline.run(within: Self.answerTimeout) { [request] in
                try await client.execute(request, deadline: .distantFuture)
            }
            return Answer(status: Int(response.status.code), response: await Self.beginning(of: response.body))
        } catch {
            throw Self.failure(error)
        }
    }

    /// Reads a body. Its end, its size and its errors do not matter, because the status is the answer.
    private static func beginning(of body: HTTPClientResponse.Body) async -> WebhookResponse? {
        let beginning = Mutex<[UInt8]>([])
        try? await Deadline.run(within: bodyTimeout) {
            var count = 0
            for try await part in body {
                count += part.readableBytes
                beginning.withLock { $0 += part.readableBytesView.prefix(WebhookResponse.maximumLength - $0.count) }
                guard count <= maximumAnswer else { return }
            }
        }
        return WebhookResponse(beginning.withLock(\.self))
    }

    private static func failure(_ error: any Error) -> Failure {
        switch error {
        case is Deadline.Passed: .timedOut
        case let error as HTTPClientError where error == .connectTimeout: .timedOut
        case let error as HTTPClientError where error == .remoteConnectionClosed: .connectionEnded
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: .tlsFailed
        case is NIOConnectionError, is IOError, is ChannelError: .unreachable
        default: .other
        }
    }
}

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

    /// Separate threads, because a name server may answer late.
    private static let lookups = DispatchQueue(label: "till.names", attributes: .concurrent)
    private static let lookupTimeout = Duration.seconds(10)

    /// Resolves the name of a receiver.
    ///
    /// - Throws: `Refusal`.
    package static func find(_ url: WebhookURL, allowsPrivate: Bool) async throws -> WebhookAddress {
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
