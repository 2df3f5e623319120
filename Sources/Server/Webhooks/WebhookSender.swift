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
    /// How many messages are on their way to one receiver at once.
    private static let sentAtOnce = 16
    /// After so long it is asked anew where a receiver's name leads.
    private static let life = Duration.seconds(60)
    private static let sweepInterval = Duration.seconds(60 * 60)

    private let service: WebhookService
    private let allowsPrivateAddresses: Bool
    private let metrics: ServiceMetrics
    private let logger: Logger
    private let work: BlockingWork

    /// - Parameter allowsPrivateAddresses: Whether receivers may be in networks that are not public.
    public init(
        service: WebhookService,
        allowsPrivateAddresses: Bool,
        metrics: ServiceMetrics,
        logger: Logger
    ) {
        self.service = service
        self.allowsPrivateAddresses = allowsPrivateAddresses
        self.metrics = metrics
        self.logger = logger
        work = BlockingWork(ledgerAnswersAtOnce: service.ledger.answersAtOnce)
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
        (try? await logged { try await work.read { try service.dueEndpoints() } }) ?? []
    }

    /// - Returns: Whether there is more to forget.
    private func sweep() async -> Bool {
        (try? await logged { try await work.run { try service.forgetOld() } }) ?? false
    }

    /// Sends what is due for an endpoint.
    ///
    /// - Parameter isProbing: Whether one message is to show first that somebody answers.
    /// - Returns: Whether the last attempts have arrived.
    private func send(to endpoint: WebhookEndpoint, isProbing: Bool) async -> Bool {
        let outcome = try? await logged {
            guard let url = try? WebhookURL(endpoint.url, allowsPlain: allowsPrivateAddresses) else {
                // It was allowed once.
                return try await refuse(endpoint, .addressPrivate)
            }
            let address: WebhookAddress
            do {
                address = try await work.run { [allowsPrivateAddresses] in
                    try WebhookAddress(of: url, allowsPrivate: allowsPrivateAddresses)
                }
            } catch let refusal as WebhookAddress.Refusal {
                return try await refuse(endpoint, refusal)
            }
            let isWell = Mutex(true)
            try await WebhookLine.open(to: url, at: address) { line in
                let end = ContinuousClock.now + Self.life
                var limit = isProbing ? 1 : Self.sentAtOnce
                var isGood = true
                while isGood, ContinuousClock.now < end, !Task.isShuttingDownGracefully, !Task.isCancelled {
                    guard let sent = try await sendSome(to: endpoint, over: line, limit: limit) else { break }
                    isGood = sent
                    limit = Self.sentAtOnce
                }
                isWell.withLock { [isGood] in $0 = isGood }
            }
            return isWell.withLock { $0 }
        }
        return outcome ?? false
    }

    /// Counts an attempt at what is due where none can be made.
    private func refuse(_ endpoint: WebhookEndpoint, _ refusal: WebhookAddress.Refusal) async throws -> Bool {
        let taken = try await work.run { try service.take(for: endpoint.identifier, limit: Self.sentAtOnce) }
        try await record(taken.map { ($0, .unanswered(code: refusal.rawValue)) })
        return false
    }

    /// - Returns: Whether any has arrived; nil where nothing is due, or the endpoint is another by now.
    private func sendSome(
        to endpoint: WebhookEndpoint,
        over line: WebhookLine,
        limit: Int
    ) async throws -> Bool? {
        let taken = try await work.run { () throws -> [WebhookDelivery] in
            guard try service.endpoint(endpoint.identifier) == endpoint else { return [] }
            return try service.take(for: endpoint.identifier, limit: limit)
        }
        guard !taken.isEmpty else { return nil }
        let outcomes = await withTaskGroup { group in
            for delivery in taken { group.addTask { (delivery, await send(delivery, to: endpoint, over: line)) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        return try await record(outcomes)
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

    /// - Returns: Whether any has arrived.
    @discardableResult
    private func record(_ outcomes: [(WebhookDelivery, WebhookDelivery.Outcome)]) async throws -> Bool {
        let results = outcomes.map { service.result(of: $0, $1) }
        try await work.run { try service.record(results) }
        for result in results {
            metrics.countWebhookAttempt(result)
            guard result.isGivenUp else { continue }
            logger.warning(
                "webhook given up",
                metadata: [
                    "webhook": "\(result.delivery.endpointIdentifier)",
                    "message": "\(result.delivery.messageIdentifier)", "outcome": "\(result.outcome.code)",
                ])
        }
        return results.contains(where: \.isDelivered)
    }

    private func logged<Value>(_ call: () async throws -> Value) async throws -> Value {
        do { return try await call() } catch {
            let code = (error as? WebhookError)?.code ?? Problem.unexpected.code
            logger.error("webhooks failed", metadata: ["code": "\(code)"])
            throw error
        }
    }
}
