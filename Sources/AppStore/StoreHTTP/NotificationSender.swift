import Foundation
import HTTPSupport
import Logging
import Proofs
import ServiceLifecycle

/// Sends due notifications to the developer's server one by one, as Apple does. Any status but 200 to 206 is a failed
/// attempt (App Store Server Notifications, "Responding").
struct NotificationSender: Sendable {
    private static let limits = OutgoingLimits(answer: .seconds(30), body: .ignored, redirects: maximumRedirects)
    static let maximumRedirects = 5
    /// The polling interval. Other processes may add notifications to the same store.
    private static let interval = Duration.milliseconds(100)
    /// The polling interval of a store in memory, for notifications that become due by the clock.
    private static let intervalInMemory = Duration.seconds(1)
    /// The first pause after a delivery. The clock of the store may wait to advance to the next one.
    private static let shortestInterval = Duration.milliseconds(2)
    /// The longest pause after a failure of the store.
    private static let longestRetry = Duration.seconds(16)

    let store: Store
    let logger: Logger

    func run() async throws {
        let lock = store.beginDelivering()
        defer { withExtendedLifetime(lock) {} }
        await cancelWhenGracefulShutdown {
            guard !store.isInMemory else { return await sendAfterCommits() }
            await work(idle: Self.interval).run { try await sendAll() }
        }
    }

    /// - Parameter idle: The longest pause while nothing is due; nil for that after a delivery.
    private func work(idle: Duration? = nil) -> RepeatedWork {
        RepeatedWork(
            "the store failed",
            Rhythm(every: Self.shortestInterval, idle: idle, retry: Self.interval...Self.longestRetry), logger: logger)
    }

    /// Sends what each commit made due. Only this process changes a store in memory, and it may have hundreds of them.
    private func sendAfterCommits() async {
        var observation: StoreObservation?
        await withDiscardingTaskGroup { group in
            let wakes = Wakes(every: Self.intervalInMemory, in: &group) { wake in
                // The check for commits of other processes finds none.
                observation = store.observe(checkingEvery: .seconds(86_400), wake)
            }
            await work().run(wakes) { try await sendAll() }
        }
        observation?.cancel()
    }

    func sendDue() async throws {
        do {
            _ = try await sendAll()
        } catch is CancellationError {
            // The notification stays due.
        }
    }

    /// - Returns: True if something was sent, and its result is recorded.
    private func sendAll() async throws -> Bool {
        var hasSent = false
        while !Task.isCancelled, let delivery = try await BlockingWork.run({ [store] in try store.nextDelivery() }) {
            let result = await send(delivery)
            try await BlockingWork.run { [store] in try store.record(result, of: delivery) }
            hasSent = true
            log(result, of: delivery)
        }
        return hasSent
    }

    /// Logs only the host, because the rest of the address may contain a secret.
    private func log(_ result: SendAttemptResult, of delivery: NotificationDelivery) {
        logger.log(
            level: result == .success ? .debug : .warning,
            result == .success ? "notification delivered" : "notification not delivered",
            metadata: [
                "notification": "\(delivery.notificationUUID.uuidString.lowercased())", "code": "\(result.rawValue)",
                "host": "\(delivery.url.host() ?? "")",
            ])
    }

    /// A request to the developer's server, as the App Store sends it.
    static func request(_ signedPayload: String, to url: URL) throws -> OutgoingRequest {
        let body = Array(try JSONAnswer.encode(["signedPayload": signedPayload]))
        var request = OutgoingRequest(.post, url.absoluteString, type: "application/json", body: body)
        request.add("User-Agent", "App Store Server")
        return request
    }

    private func send(_ delivery: NotificationDelivery) async -> SendAttemptResult {
        do {
            let request = try Self.request(delivery.signedPayload, to: delivery.url)
            let status = try await OutgoingClient.shared.send(request, Self.limits).status
            return (200...206).contains(status) ? .success : .unsuccessfulHTTPResponseCode
        } catch {
            return Self.result(of: error)
        }
    }

    static func result(of error: any Error) -> SendAttemptResult {
        switch error {
        case OutgoingFailure.timedOut: .timedOut
        case OutgoingFailure.redirectsEndless: .circularRedirect
        case OutgoingFailure.connectionEnded: .prematureClose
        case OutgoingFailure.tlsFailed: .tlsIssue
        case OutgoingFailure.unreachable: .socketIssue
        default: .other
        }
    }
}

extension Store {
    /// Sends notifications until the service shuts down.
    package func notificationSending(logger: Logger) -> Companion {
        Companion { try await NotificationSender(store: self, logger: logger).run() }
    }

    package func sendDueNotifications(logger: Logger) async throws {
        try await NotificationSender(store: self, logger: logger).sendDue()
    }
}
