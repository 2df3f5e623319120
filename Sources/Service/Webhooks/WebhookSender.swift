import Features
import HTTPSupport
import Ledger
import Logging
import Proofs
import ServiceLifecycle
import Synchronization

/// Sends webhooks as they become due, to all receivers concurrently, so a slow or missing receiver does not delay the others.
///
/// The sender takes a message from the ledger before the attempt and records the result after it. A service that ends between
/// the two sends again, and several services on one ledger do not send the same message at once. A receiver may therefore get a
/// message twice, and recognizes it by its identifier.
package struct WebhookSender: Service {
    /// The polling interval of the ledger. It finds retries and messages that another process has written.
    private static let interval = Duration.seconds(1)
    /// The longest time that a connection is used before the receiver's name is resolved again.
    private static let maximumConnectionLifetime = Duration.seconds(60)
    private static let sweepInterval = Duration.seconds(60 * 60)

    fileprivate let service: WebhookService
    fileprivate let allowsPrivateAddresses: Bool
    fileprivate let metrics: ServiceMetrics
    fileprivate let logger: Logger

    /// Sends until the service stops, and finishes the attempts that are under way.
    package func run() async throws {
        let backoff = EndpointBackoff()
        await withDiscardingTaskGroup { group in
            let (wakes, wake) = AsyncStream.wakes(after: service.ledger, every: Self.interval, in: &group)
            var nextSweep = ContinuousClock.now
            for await _ in wakes {
                for endpoint in await dueEndpoints() where backoff.begin(endpoint.identifier) {
                    group.addTask {
                        let succeeded = await send(to: endpoint, isProbing: backoff.isFailing(endpoint.identifier))
                        backoff.end(endpoint.identifier, succeeded: succeeded)
                        // More messages may be due, or the endpoint may have changed.
                        if succeeded { wake.yield() }
                    }
                }
                if ContinuousClock.now >= nextSweep, await !sweep() { nextSweep = .now + Self.sweepInterval }
            }
        }
    }

    private func dueEndpoints() async -> [WebhookEndpoint] {
        (try? await logger.logging("webhooks failed") { try await service.dueEndpoints() }) ?? []
    }

    /// - Returns: True if there is more to delete.
    private func sweep() async -> Bool {
        (try? await logger.logging("webhooks failed") {
            try await Ledger.retryingWhileOverloaded { try await service.deleteExpired() }
        }) ?? false
    }

    /// Sends the due messages of an endpoint.
    ///
    /// - Parameter isProbing: True to send one message first, because the last attempts failed.
    /// - Returns: True if the last attempts succeeded.
    private func send(to endpoint: WebhookEndpoint, isProbing: Bool) async -> Bool {
        let limit = isProbing ? 1 : WebhookConnection.maximumAtOnce
        let succeeded = try? await logger.logging("webhooks failed") {
            do {
                // The URL was allowed when it was set. The setting may have changed since.
                guard let url = try? WebhookURL(endpoint.url, allowsPlain: allowsPrivateAddresses) else {
                    throw WebhookAddress.Refusal.addressPrivate
                }
                let address = try await WebhookAddress.find(url, allowsPrivate: allowsPrivateAddresses)
                return try await WebhookConnection.open(to: url, at: address) { line in
                    try await sendAll(to: endpoint, over: line, first: limit)
                }
            } catch let refusal as WebhookAddress.Refusal {
                return try await sendBatch(to: endpoint, limit: limit) { _ in
                    Attempt(outcome: .unanswered(code: refusal.rawValue))
                } ?? true
            }
        }
        return succeeded ?? false
    }

    /// Sends until no message is due, an attempt fails, or the connection is too old.
    ///
    /// - Parameter first: The number of concurrent messages before the first success.
    private func sendAll(to endpoint: WebhookEndpoint, over line: WebhookConnection, first: Int) async throws -> Bool {
        let end = ContinuousClock.now + Self.maximumConnectionLifetime
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
        to endpoint: WebhookEndpoint,
        limit: Int,
        _ send: @Sendable @escaping (WebhookDelivery) async -> Attempt
    ) async throws -> Bool? {
        let due = try await service.due(for: endpoint, limit: limit)
        guard let due, !due.isEmpty else { return nil }
        let leased = try await Ledger.retryingWhileOverloaded { try await service.lease(due) }
        let results = await withTaskGroup { group in
            for delivery in leased {
                group.addTask {
                    let began = ContinuousClock.now
                    let attempt = await send(delivery)
                    let duration = (ContinuousClock.now - began) / Duration.milliseconds(1)
                    return service.result(
                        of: delivery, attempt.outcome, milliseconds: Int64(duration), response: attempt.response)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        try await Ledger.retryingWhileOverloaded { try await service.record(results) }
        for result in results { report(result) }
        return results.isEmpty || results.contains { $0.outcome.isDelivery }
    }

    private func send(
        _ delivery: WebhookDelivery,
        to endpoint: WebhookEndpoint,
        over line: WebhookConnection
    ) async -> Attempt {
        guard let webhook = try? await service.signed(delivery, for: endpoint) else {
            return Attempt(outcome: .unanswered(code: WebhookConnection.Failure.other.rawValue))
        }
        do {
            let answer = try await line.send(webhook)
            return Attempt(outcome: .answered(status: answer.status), response: answer.response)
        } catch {
            return Attempt(outcome: .unanswered(code: error.rawValue))
        }
    }

    private func report(_ result: WebhookResult) {
        metrics.count(
            .webhookAttempts, result.outcome.isDelivery ? "delivered" : result.isGivenUp ? "failed" : "retried",
            code: result.outcome.isDelivery ? "" : result.outcome.code)
        guard result.isGivenUp else { return }
        logger.warning(
            "webhook given up",
            metadata: [
                "webhook": "\(result.delivery.endpointIdentifier)",
                "message": "\(result.delivery.messageIdentifier)", "outcome": "\(result.outcome.code)",
            ])
    }
}

extension WebhookService {
    /// - Parameter allowsPrivateAddresses: True if receivers may be in private networks.
    package func sender(allowsPrivateAddresses: Bool, metrics: ServiceMetrics, logger: Logger) -> WebhookSender {
        WebhookSender(
            service: self, allowsPrivateAddresses: allowsPrivateAddresses, metrics: metrics, logger: logger)
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
