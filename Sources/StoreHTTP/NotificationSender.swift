import AsyncHTTPClient
import Commerce
import Foundation
import HTTPSupport
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import Receipts
import ServiceLifecycle
import Store
import Wire

/// Sends the store's notifications to the developer's server as they become due, one after the other, as Apple does: what is
/// not answered with 200 to 206 is not delivered (App Store Server Notifications, "Responding").
public struct NotificationSender: Service {
    /// How long an answer is waited for.
    private static let patience = Duration.seconds(30)
    /// How often it is looked whether something has become due: other processes sell in the same store, too.
    private static let interval = Duration.milliseconds(100)

    private let store: Store
    private let logger: Logger

    public init(store: Store, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// Sends until it is told to stop.
    public func run() async throws {
        try await HTTPClient.withHTTPClient(configuration: Self.configuration) { client in
            await cancelWhenGracefulShutdown {
                while !Task.isCancelled {
                    await sendDue(client)
                    // Told to stop, it stops as it should.
                    try? await Task.sleep(for: Self.interval)
                }
            }
        }
    }

    /// Sends everything that is due, once.
    package func sendDue() async throws {
        try await HTTPClient.withHTTPClient(configuration: Self.configuration) { await sendDue($0) }
    }

    private static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }

    private func sendDue(_ client: HTTPClient) async {
        do {
            while !Task.isCancelled, let delivery = try await BlockingWork.run({ [store] in try store.nextDelivery() })
            {
                let result = await send(delivery, client)
                try await BlockingWork.run { [store] in try store.record(result, of: delivery) }
                log(result, of: delivery)
            }
        } catch {
            logger.error("the store failed", metadata: ["error": "\((error as? StoreError)?.code ?? "unexpected")"])
        }
    }

    /// Logs the host alone: the rest of the address may have a secret.
    private func log(_ result: SendAttemptResult, of delivery: NotificationDelivery) {
        logger.log(
            level: result == .success ? .debug : .warning,
            result == .success ? "notification delivered" : "notification not delivered",
            metadata: [
                "notification": "\(delivery.notificationUUID.uuidString.lowercased())", "code": "\(result.rawValue)",
                "host": "\(delivery.url.host() ?? "")",
            ])
    }

    private func send(_ delivery: NotificationDelivery, _ client: HTTPClient) async -> SendAttemptResult {
        var request = HTTPClientRequest(url: delivery.url.absoluteString)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "User-Agent", value: "App Store Server")
        do {
            let body = SignedNotification(signedPayload: delivery.signedPayload)
            request.body = .bytes(try JSONAnswer.encode(body))
            let status = try await Deadline.run(within: Self.patience) { [request] in
                try await client.execute(request, deadline: .distantFuture).status.code
            }
            return (200...206).contains(status) ? .success : .unsuccessfulHTTPResponseCode
        } catch {
            return Self.result(of: error)
        }
    }

    private static func result(of error: any Error) -> SendAttemptResult {
        switch error {
        case is Deadline.Passed: .timedOut
        case let error as HTTPClientError where error == .redirectCycleDetected || error == .redirectLimitReached:
            .circularRedirect
        case let error as HTTPClientError where error == .remoteConnectionClosed: .prematureClose
        case let error as HTTPClientError where error == .connectTimeout: .timedOut
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: .tlsIssue
        case is NIOConnectionError, is IOError, is ChannelError: .socketIssue
        default: .other
        }
    }
}
