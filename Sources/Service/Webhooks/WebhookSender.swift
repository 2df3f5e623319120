import Features
import HTTPSupport
import Ledger
import Logging
import ServiceLifecycle
import Synchronization

/// Sends the messages of a queue as they become due, to all receivers concurrently, so a slow or missing receiver does not delay
/// the others.
///
/// The sender takes a message from the ledger before the attempt and records the result after it. A service that ends between
/// the two sends again, and several services on one ledger do not send the same message at once. A receiver may therefore get a
/// message twice, and recognizes it by its identifier.
package struct WebhookSender<Queue: DeliveryQueue>: Service {
    fileprivate let queue: Queue
    /// The name of a message in logs.
    fileprivate let noun: String
    /// The counter of attempts.
    fileprivate let work: ServiceMetrics.Work
    fileprivate let allowsPrivateAddresses: Bool
    fileprivate let metrics: ServiceMetrics
    fileprivate let logger: Logger
    /// The limit on lines about messages that are given up: if a receiver is away, all of its messages are.
    private let lines = LogLimit()
    /// Without messages and failures, the ledger is asked less often.
    private static var rhythm: Rhythm { Rhythm(every: SenderTimes.interval, idle: .seconds(5)) }

    /// Sends until the service stops, and finishes the attempts that are under way.
    package func run() async throws {
        let backoff = EndpointBackoff()
        let failures = SharedFailureLog("\(noun)s not sent", logger: logger)
        await withDiscardingTaskGroup { group in
            group.addTask { await lines.summarize(in: logger) }
            let wakes = Wakes(after: queue.ledger, every: SenderTimes.interval, in: &group)
            var nextSweep = ContinuousClock.now
            await RepeatedWork("\(noun)s failed", Self.rhythm, logger: logger).run(wakes) {
                let endpoints = try await ShutdownBound.run { try await queue.dueEndpoints() } ?? []
                for endpoint in endpoints where backoff.begin(endpoint.identifier) {
                    group.addTask {
                        let isProbing = backoff.isFailing(endpoint.identifier)
                        let succeeded = await failures.attempt { try await send(to: endpoint, isProbing: isProbing) }
                        backoff.end(endpoint.identifier, succeeded: succeeded ?? false)
                        // More messages may be due, or the endpoint may have changed.
                        if succeeded ?? false { wakes.wake() }
                    }
                }
                if ContinuousClock.now >= nextSweep, try await ShutdownBound.run({ try await sweep() }) == false {
                    nextSweep = .now + SenderTimes.sweepInterval
                }
                return !endpoints.isEmpty
            }
        }
    }

    /// - Returns: True if there is more to delete.
    private func sweep() async throws -> Bool {
        try await Ledger.retryingWhileOverloaded { try await queue.deleteExpired() }
    }

    /// Sends the due messages of an endpoint.
    ///
    /// - Parameter isProbing: True to send one message first, because the last attempts failed.
    /// - Returns: True if the last attempts succeeded.
    private func send(to endpoint: Queue.Endpoint, isProbing: Bool) async throws -> Bool {
        let limit = isProbing ? 1 : WebhookConnection.maximumAtOnce
        do {
            // The URL was allowed when it was set. The setting may have changed since.
            guard let url = try? WebhookURL(endpoint.url, allowsPlain: allowsPrivateAddresses) else {
                throw WebhookAddress.Refusal.addressPrivate
            }
            let address = try await WebhookAddress.find(url, allowsPrivate: allowsPrivateAddresses)
            return try await sendAll(
                to: endpoint, over: WebhookConnection(to: url, at: address), first: limit)
        } catch let refusal as WebhookAddress.Refusal {
            return try await sendBatch(to: endpoint, limit: limit) { _ in
                Attempt(outcome: .unanswered(code: refusal.rawValue))
            } ?? true
        }
    }

    /// Sends until no message is due, an attempt fails, or the connection is too old.
    ///
    /// - Parameter first: The number of concurrent messages before the first success.
    private func sendAll(to endpoint: Queue.Endpoint, over line: WebhookConnection, first: Int) async throws -> Bool {
        let end = ContinuousClock.now + SenderTimes.maximumConnectionLifetime
        var limit = first
        while ContinuousClock.now < end, !Task.isShuttingDownGracefully, !Task.isCancelled {
            let succeeded = try await sendBatch(to: endpoint, limit: limit) { await send($0, to: endpoint, over: line) }
            guard let succeeded else { break }
            if !succeeded { return false }
            limit = WebhookConnection.maximumAtOnce
        }
        return true
    }

    private struct Attempt {
        let outcome: WebhookDelivery.Outcome
        var response: WebhookResponse?
    }

    /// - Returns: True if any message arrived; nil if none is due, or the endpoint was changed or removed.
    private func sendBatch(
        to endpoint: Queue.Endpoint,
        limit: Int,
        _ send: @Sendable @escaping (Queue.Message) async -> Attempt
    ) async throws -> Bool? {
        let due = try await queue.due(for: endpoint, limit: limit)
        guard let due, !due.isEmpty else { return nil }
        let leased = try await Ledger.retryingWhileOverloaded { try await queue.lease(due) }
        let results = await withTaskGroup { group in
            for deliveries in Dictionary(grouping: leased, by: \.event).values {
                group.addTask {
                    var results: [DeliveryResult<Queue.Message>] = []
                    for delivery in deliveries {
                        let began = ContinuousClock.now
                        let attempt = await send(delivery)
                        let duration = (ContinuousClock.now - began) / Duration.milliseconds(1)
                        results.append(
                            queue.result(
                                of: delivery, attempt.outcome, milliseconds: Int64(duration),
                                response: attempt.response))
                    }
                    return results
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        try await Ledger.retryingWhileOverloaded { try await queue.record(results) }
        for result in results { report(result) }
        return results.isEmpty || results.contains { $0.outcome.isDelivery }
    }

    private func send(
        _ delivery: Queue.Message,
        to endpoint: Queue.Endpoint,
        over line: WebhookConnection
    ) async -> Attempt {
        do {
            guard let webhook = try await queue.signed(delivery, for: endpoint) else {
                return Attempt(outcome: .unanswered(code: WebhookConnection.Failure.other.rawValue))
            }
            let answer = try await line.send(webhook)
            return Attempt(outcome: .answered(status: answer.status), response: answer.response)
        } catch let failure as WebhookConnection.Failure {
            return Attempt(outcome: .unanswered(code: failure.rawValue))
        } catch {
            let code = Problem.code(of: error)
            logger.log(
                level: lines.level(.error, of: code, in: logger), "\(noun) not made", metadata: ["code": "\(code)"])
            return Attempt(outcome: .unanswered(code: WebhookConnection.Failure.other.rawValue))
        }
    }

    private func report(_ result: DeliveryResult<Queue.Message>) {
        metrics.count(
            work, result.outcome.isDelivery ? "delivered" : result.isGivenUp ? "failed" : "retried",
            code: result.outcome.isDelivery ? "" : result.outcome.code)
        guard result.isGivenUp else { return }
        let metadata = result.message.logged.map { ($0.name, Logger.MetadataValue.string($0.value)) }
        logger.log(
            level: lines.level(.warning, of: result.outcome.code, in: logger), "\(noun) given up",
            metadata: Dictionary(metadata + [("outcome", "\(result.outcome.code)")]) { first, _ in first })
    }
}

private enum SenderTimes {
    /// The polling interval of the ledger. It finds retries and messages that another process has written.
    static let interval = Duration.seconds(1)
    /// The longest time that a connection is used before the receiver's name is resolved again.
    static let maximumConnectionLifetime = Duration.seconds(60)
    static let sweepInterval = Duration.seconds(60 * 60)
}

extension WebhookService {
    package func sender(metrics: ServiceMetrics, logger: Logger) -> WebhookSender<WebhookService> {
        WebhookSender(
            queue: self, noun: "webhook", work: .webhookAttempts, allowsPrivateAddresses: allowsPrivateAddresses,
            metrics: metrics, logger: logger)
    }

    /// Sends a test message to an endpoint, once. Nothing is recorded.
    package func sendTest(to endpoint: WebhookEndpoint) async throws -> WebhookDelivery.Outcome {
        let url = try WebhookURL(endpoint.url, allowsPlain: allowsPrivateAddresses)
        return try await WebhookConnection.send(to: url, allowsPrivateAddresses: allowsPrivateAddresses) {
            testMessage(for: endpoint)
        }
    }
}

extension NotificationForwarding {
    /// - Parameter allowsPrivateAddresses: True if servers may be in private networks.
    package func sender(
        allowsPrivateAddresses: Bool, metrics: ServiceMetrics, logger: Logger
    ) -> WebhookSender<NotificationForwarding> {
        WebhookSender(
            queue: self, noun: "forwarded notification", work: .notificationForwards,
            allowsPrivateAddresses: allowsPrivateAddresses, metrics: metrics, logger: logger)
    }
}

/// The state of each receiver: busy, or failing. A failing receiver is retried with growing delays, up to a minute, however
/// many messages wait for it.
final class EndpointBackoff: Sendable {
    private static let longestPause = 60

    private struct State {
        var isBusy = false
        /// The number of failures in a row.
        var failures = 0
        var notBefore = ContinuousClock.now
    }

    /// The states by the endpoint's identifier. There are only a few endpoints.
    private let states = Mutex<[String: State]>([:])

    /// - Returns: False if an attempt is under way, or the pause has not passed.
    func begin(_ endpoint: String) -> Bool {
        states.withLock { states in
            var state = states[endpoint] ?? State()
            guard !state.isBusy, ContinuousClock.now >= state.notBefore else { return false }
            state.isBusy = true
            states[endpoint] = state
            return true
        }
    }

    func isFailing(_ endpoint: String) -> Bool {
        states.withLock { $0[endpoint].map { $0.failures > 0 } ?? false }
    }

    func end(_ endpoint: String, succeeded: Bool) {
        states.withLock { states in
            guard !succeeded else {
                states[endpoint] = nil
                return
            }
            let failures = (states[endpoint]?.failures ?? 0) + 1
            let pause = failures > 6 ? Self.longestPause : 1 << (failures - 1)
            states[endpoint] = State(
                isBusy: false, failures: failures, notBefore: .now + .seconds(min(pause, Self.longestPause)))
        }
    }
}
