import Commerce
import HTTPSupport
import Ledger
import Logging
import ServiceLifecycle
import Synchronization
import Webhooks

/// Sends webhooks as they become due, to all receivers at once, so that one that is slow or gone holds up no other.
///
/// What is sent is taken from the ledger first and told to it afterwards: a service that ends between the two sends again, and
/// several on one ledger do not send the same. A receiver may therefore hear a message twice, and knows it by its identifier.
public struct WebhookSender: Service {
    /// How often it is looked whether something is due that this process has not written, or that is tried again.
    private static let interval = Duration.seconds(1)
    /// After so long it is asked anew where a receiver's name leads.
    private static let life = Duration.seconds(60)
    private static let sweepInterval = Duration.seconds(60 * 60)

    private let service: WebhookService
    private let allowsPrivateAddresses: Bool
    private let metrics: ServiceMetrics
    private let logger: Logger

    /// - Parameters:
    ///   - allowsPrivateAddresses: Whether receivers may be in networks that are not public.
    package init(
        service: WebhookService,
        allowsPrivateAddresses: Bool,
        metrics: ServiceMetrics,
        logger: Logger
    ) {
        self.service = service
        self.allowsPrivateAddresses = allowsPrivateAddresses
        self.metrics = metrics
        self.logger = logger
    }

    /// Sends until it is told to stop; then what is on its way is waited for.
    public func run() async throws {
        let (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        service.ledger.observe { _ in wake.yield() }
        let lanes = WebhookLanes()
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await _ in AsyncStream.ticks(every: Self.interval).cancelOnGracefulShutdown() { wake.yield() }
                wake.finish()
            }
            var nextSweep = ContinuousClock.now
            for await _ in wakes {
                for endpoint in await dueEndpoints() where lanes.begin(endpoint.identifier) {
                    group.addTask {
                        let isWell = await send(to: endpoint, isProbing: lanes.isFailing(endpoint.identifier))
                        lanes.end(endpoint.identifier, isWell: isWell)
                        // There may be more, or it may have changed.
                        if isWell { wake.yield() }
                    }
                }
                if ContinuousClock.now >= nextSweep, await !sweep() { nextSweep = .now + Self.sweepInterval }
            }
        }
    }

    private func dueEndpoints() async -> [WebhookEndpoint] {
        (try? await logged { try await service.dueEndpoints() }) ?? []
    }

    /// - Returns: Whether there is more to forget.
    private func sweep() async -> Bool {
        (try? await logged { try await write { try await service.forgetOld() } }) ?? false
    }

    /// Sends what is due for an endpoint.
    ///
    /// - Parameter isProbing: Whether one message is to show first that somebody answers.
    /// - Returns: Whether the last attempts have arrived.
    private func send(to endpoint: WebhookEndpoint, isProbing: Bool) async -> Bool {
        let limit = isProbing ? 1 : WebhookLine.maximumAtOnce
        let isWell = try? await logged {
            do {
                // It was allowed once.
                guard let url = try? WebhookURL(endpoint.url, allowsPlain: allowsPrivateAddresses) else {
                    throw WebhookAddress.Refusal.addressPrivate
                }
                let address = try await WebhookAddress.find(url, allowsPrivate: allowsPrivateAddresses)
                return try await WebhookLine.open(to: url, at: address) { line in
                    try await sendAll(to: endpoint, over: line, first: limit)
                }
            } catch let refusal as WebhookAddress.Refusal {
                return try await sendSome(to: endpoint, limit: limit) { _ in
                    .unanswered(code: refusal.rawValue)
                } ?? true
            }
        }
        return isWell ?? false
    }

    /// Sends until nothing is due, nothing arrives any more or it has taken long enough.
    ///
    /// - Parameter first: How many messages may be on their way before any has arrived.
    private func sendAll(to endpoint: WebhookEndpoint, over line: WebhookLine, first: Int) async throws -> Bool {
        let end = ContinuousClock.now + Self.life
        var limit = first
        while ContinuousClock.now < end, !Task.isShuttingDownGracefully, !Task.isCancelled {
            let isWell = try await sendSome(to: endpoint, limit: limit) { await send($0, to: endpoint, over: line) }
            guard let isWell else { break }
            if !isWell { return false }
            limit = WebhookLine.maximumAtOnce
        }
        return true
    }

    /// - Returns: Whether any has arrived; nil where nothing is due, or the endpoint is another by now, or gone.
    private func sendSome(
        to endpoint: WebhookEndpoint,
        limit: Int,
        _ send: @Sendable @escaping (WebhookDelivery) async -> WebhookDelivery.Outcome
    ) async throws -> Bool? {
        let due = try await service.due(for: endpoint, limit: limit)
        guard let due, !due.isEmpty else { return nil }
        let taken = try await write { try await service.take(due) }
        let results = await withTaskGroup { group in
            for delivery in taken { group.addTask { service.result(of: delivery, await send(delivery)) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        try await write { try await service.record(results) }
        for result in results { tell(result) }
        return results.isEmpty || results.contains(where: \.isDelivered)
    }

    private func send(
        _ delivery: WebhookDelivery,
        to endpoint: WebhookEndpoint,
        over line: WebhookLine
    ) async -> WebhookDelivery.Outcome {
        guard let webhook = try? service.signed(delivery, for: endpoint) else {
            return .unanswered(code: WebhookLine.Silence.other.rawValue)
        }
        do { return .answered(status: try await line.send(webhook)) } catch {
            return .unanswered(code: error.rawValue)
        }
    }

    /// Waits while too many sales wait: the results of attempts come after them.
    private func write<Value>(_ useCase: () async throws -> Value) async throws -> Value {
        while true {
            do { return try await useCase() } catch let fault as StorageFault where fault.cause == .overloaded {
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    private func tell(_ result: WebhookResult) {
        metrics.countWebhookAttempt(
            result.isDelivered ? "delivered" : result.isGivenUp ? "failed" : "retried",
            code: result.isDelivered ? "" : result.outcome.code)
        guard result.isGivenUp else { return }
        logger.warning(
            "webhook given up",
            metadata: [
                "webhook": "\(result.delivery.endpointIdentifier)",
                "message": "\(result.delivery.messageIdentifier)", "outcome": "\(result.outcome.code)",
            ])
    }

    private func logged<Value>(_ call: () async throws -> Value) async throws -> Value {
        do { return try await call() } catch {
            let code = (Problem(error) ?? .unexpected).code
            logger.error("webhooks failed", metadata: ["code": "\(code)"])
            throw error
        }
    }
}
