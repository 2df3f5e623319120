import AsyncHTTPClient
import Commerce
import Foundation
import HTTPSupport
import NIOCore
import NIOPosix
import NIOSSL
import Webhooks

/// The way to one receiver: nothing that it answers is believed, or followed.
package struct WebhookLine: Sendable {
    /// How many messages may be on their way at once.
    static let maximumAtOnce = 16
    /// How long an answer is waited for.
    private static let patience = Duration.seconds(15)
    /// How much of an answer's body is read, in bytes, and for how long, so that the connection can be used again.
    private static let maximumAnswer = 64 * 1024
    private static let patienceWithBody = Duration.seconds(1)

    private let url: WebhookURL
    private let client: HTTPClient

    /// Sends to a receiver while `body` runs.
    package static func open<Value: Sendable>(
        to url: WebhookURL,
        at address: WebhookAddress,
        _ body: (WebhookLine) async throws -> Value
    ) async throws -> Value {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.retryConnectionEstablishment = false
        // No message waits for a connection, which would take from its time.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = maximumAtOnce
        configuration.timeout.connect = .seconds(5)
        // An address in place of a name is connected to as it stands.
        configuration.dnsOverride = [url.host: address.text]
        return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            try await body(WebhookLine(url: url, client: client))
        }
    }

    /// Why there was no answer.
    package enum Silence: String, Error {
        case timedOut
        case unreachable
        case tlsFailed
        case connectionEnded
        case other
    }

    /// - Returns: The status of the receiver's answer.
    package func send(_ webhook: SignedWebhook) async throws(Silence) -> Int {
        var request = HTTPClientRequest(url: url.text)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "User-Agent", value: "Till")
        for header in webhook.headers { request.headers.add(name: header.name, value: header.value) }
        request.body = .bytes(ByteBuffer(bytes: webhook.body))
        do {
            let response = try await Deadline.run(within: Self.patience) { [request] in
                try await client.execute(request, deadline: .distantFuture)
            }
            // What it says besides its status is nobody's business.
            try? await Deadline.run(within: Self.patienceWithBody) {
                _ = try await response.body.collect(upTo: Self.maximumAnswer)
            }
            return Int(response.status.code)
        } catch {
            throw Self.silence(error)
        }
    }

    private static func silence(_ error: any Error) -> Silence {
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
