import AsyncHTTPClient
import Foundation
import HTTPSupport
import Logging
import NIOCore
import Proofs
import ServiceLifecycle

/// Pushes due notifications to the developer's server one by one, as Pub/Sub does: an envelope in JSON, with an identity token. The
/// statuses 102, 200, 201, 202 and 204 acknowledge; any other, and a timeout, is repeated later.
struct PushSender: Sendable {
    /// The deadline of an acknowledgement, as of a subscription of Pub/Sub without another.
    private static let timeout = Duration.seconds(10)
    /// The polling interval. Other processes may add notifications to the same Play.
    private static let interval = Duration.milliseconds(100)
    /// The longest polling interval of a named Play without due notifications. A process may have hundreds of them.
    private static let idleIntervalOfNamed = Duration.seconds(1)
    private static let acknowledging: Set<UInt> = [102, 200, 201, 202, 204]
    private static let batch = 100
    private static let subscription = "projects/till-local-play/subscriptions/push"

    let play: GooglePlay
    let logger: Logger

    func run() async throws {
        try await HTTPClient.withHTTPClient(configuration: .outgoing(.disallow)) { client in
            await cancelWhenGracefulShutdown {
                let rhythm = Rhythm(every: Self.interval, idle: play.isNamed ? Self.idleIntervalOfNamed : nil)
                await RepeatedWork("the local Play failed", rhythm, logger: logger).run { try await sendDue(client) }
            }
        }
    }

    func sendDue() async throws {
        try await HTTPClient.withHTTPClient(configuration: .outgoing(.disallow)) { _ = try await sendDue($0) }
    }

    /// - Returns: True if something was due.
    private func sendDue(_ client: HTTPClient) async throws -> Bool {
        let due = try await BlockingWork.run { [play] in
            try play.perform { books in
                (try books.pushSettings(), try books.dueNotifications(limit: Self.batch))
            }
        }
        guard let settings = due.0 else { return false }
        for queued in due.1 {
            guard !Task.isCancelled else { return true }
            let isDelivered = await send(queued, settings, client)
            try await BlockingWork.run { [play] in
                try play.perform { try $0.recordAttempt(on: queued, isDelivered: isDelivered) }
            }
        }
        return !due.1.isEmpty
    }

    /// - Returns: True if the server has acknowledged the notification.
    private func send(_ queued: QueuedNotification, _ settings: PushSettings, _ client: HTTPClient) async -> Bool {
        do {
            let (token, body) = try await BlockingWork.run { [play] in
                try play.perform { books in
                    (
                        try books.identityToken(settings),
                        try JSONAnswer.encode(try queued.message(of: Self.subscription, at: books.machineTime))
                    )
                }
            }
            var request = HTTPClientRequest(url: settings.endpoint.absoluteString)
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/json")
            request.headers.add(name: "User-Agent", value: "CloudPubSub-Google")
            request.headers.add(name: "Authorization", value: "Bearer \(token)")
            request.body = .bytes(body)
            let status = try await client.execute(request, timeout: .seconds(Self.timeout.components.seconds)).status
                .code
            return Self.acknowledging.contains(status)
        } catch {
            // The address may contain a secret.
            logger.warning(
                "notification not delivered",
                metadata: ["notification": "\(queued.number)", "host": "\(settings.endpoint.host() ?? "")"])
            return false
        }
    }
}

extension QueuedNotification {
    /// The message that Pub/Sub pushes.
    fileprivate func message(of subscription: String, at time: Timestamp) throws -> PushedMessage {
        PushedMessage(
            message: .init(
                data: Base64.encode(try JSONAnswer.encode(notification)), messageId: String(number),
                publishTime: DateTimeText(moment: time)), subscription: subscription)
    }
}

extension GooglePlay {
    /// Pushes notifications until the service shuts down.
    package func pushing(logger: Logger) -> Companion {
        Companion { try await PushSender(play: self, logger: logger).run() }
    }

    /// Pushes the notifications that are due now, without waiting for the next look of `pushing`.
    package func sendDueNotifications(logger: Logger) async throws {
        try await PushSender(play: self, logger: logger).sendDue()
    }
}
