import Entitlements
import HTTPSupport
import Logging
import Proofs

/// Asks Google Play for what the service has missed: the purchases that were taken back, and those that have fallen silent. Pub/Sub
/// gives a notification up after a week, and Google Play does not notify about everything.
package struct GooglePlayReconciler: Sendable {
    /// The number of purchases in one read of the ledger.
    private static let pageSize = 100
    /// The overlap with the previous request, in seconds. Google Play may learn late of a refund, and its clock may differ.
    private static let overlap: Int64 = 60 * 60
    /// The number of failed requests in a row after which a run stops.
    private static let maximumFailures = 10
    /// The outcome of a purchase about which the service asks no more, although Google Play has stated no end.
    private static let givenUp = "givenUp"
    /// The largest number of pages of voided purchases in one run, of up to 1000 each. Google allows 6000 requests for them a day.
    private static let maximumPages = 100

    package let app: GooglePlayApp

    private var service: EntitlementService { app.purchases.entitlements }

    /// The ledger's name for the checkpoint of voided purchases.
    private var subject: String { "voided purchases of \(app.client.packageName) at \(app.client.url.absoluteString)" }

    /// The last complete list of voided purchases; nil if there was none.
    package func lastVoidedPurchases() async throws -> ReconciliationCheckpoint? {
        try await service.checkpoint(ofReconciliation: subject)
    }

    /// Takes back what Google Play has listed as voided since the last run, or in the last 30 days. Google Play keeps no older
    /// entries. A record in another form is counted under the code of an invalid answer, and the others are applied.
    ///
    /// The list begins with the oldest record. So a run that reads a part of it has reached the date of the last one that it has read,
    /// and the next run continues there.
    ///
    /// - Throws: `PlayDeveloperError`, also for a list that leads back to a page or does not advance; `StorageFault`. What was taken
    ///   back before the error stays so.
    package func recordVoidedPurchases() async throws -> Reconciler.Report {
        let now = service.clock.now()
        let last = try await lastVoidedPurchases()?.until
        var report = Reconciler.Report()
        var (pages, pageToken, reached) = (ListedPages(upTo: Self.maximumPages), String?.none, last)
        repeat {
            let page = try await app.client.voidedPurchases(
                since: last?.adding(seconds: -Self.overlap), pageToken: pageToken)
            for voided in page.purchases {
                try await record(voided, into: &report)
                // A date of another clock than the service's says nothing.
                if voided.voidedAt <= now { reached = max(reached ?? voided.voidedAt, voided.voidedAt) }
            }
            for _ in 0..<page.unreadableCount { report.count(PlayDeveloperError.answerInvalid(reason: nil).code) }
            do { pageToken = try pages.next(page.nextPageToken) } catch {
                if let reached { try await service.setReconciled(subject, until: reached, report) }
                guard error == .unfinished, reached != last else {
                    throw PlayDeveloperError.answerInvalid(reason: "The list of voided purchases has no end.")
                }
                report.hasMore = true
                return report
            }
        } while pageToken != nil
        try await service.setReconciled(subject, until: now, report)
        return report
    }

    private func record(_ voided: VoidedGooglePlayPurchase, into report: inout Reconciler.Report) async throws {
        // An order that Google Play does not answer for now does not hold the others up.
        let outcomes = try await app.purchases.apply(voided) { try? await app.client.order($0, within: .schedule) }
        app.questions.forget(voided.purchaseToken)
        // Purchases that nobody has redeemed, and returned units, change nothing.
        report.count((outcomes.isEmpty ? NotificationOutcome.recorded : outcomes.strongest).rawValue)
    }

    /// Asks about each purchase that has fallen silent: a subscription whose paid period has ended, or that was not asked about for a
    /// day, a payment that is pending, and a purchase whose money may come back.
    ///
    /// If Google Play says that it does not know a purchase, the report counts the code, and the run continues with the others. The
    /// service asks about the purchase again, until it gives it up. The report has those that a notification gave up since, too
    /// (`givenUp`).
    ///
    /// - Throws: `PlayDeveloperError`, `StorageFault`. What was applied before the error stays applied.
    package func recordSilentPurchases() async throws -> Reconciler.Report {
        var report = Reconciler.Report()
        var failures = 0
        var asked: Set<ByteKey> = []
        while true {
            let waiting = try await app.purchases.purchasesToAsk(limit: Self.pageSize)
            let next = waiting.filter { asked.insert(ByteKey($0.purchaseToken)).inserted }
            guard !next.isEmpty else {
                for _ in 0..<app.takeGivenUp() { report.count(Self.givenUp) }
                return report
            }
            for purchase in next {
                do {
                    report.count(try await app.refresh(purchase.purchaseToken).strongest.rawValue)
                    failures = 0
                } catch let error as PlayDeveloperError {
                    if error.isOfToken, let outcomes = try await app.refreshOrders(ofForgotten: purchase) {
                        report.count(outcomes.strongest.rawValue)
                        continue
                    }
                    report.count(error.code)
                    guard !error.isOfToken else { continue }
                    guard error.concernsOneRequest else {
                        // Google Play may refuse the account for this purchase alone. The next run begins with another one.
                        if case .accountRefused = error { try await app.purchases.askLater(purchase) }
                        throw error
                    }
                    // Ten that fail each time would keep all others waiting for ever.
                    try await app.purchases.askLater(purchase)
                    failures += 1
                    guard failures < Self.maximumFailures else { throw error }
                }
            }
        }
    }
}

extension GooglePlayApp {
    package var reconciler: GooglePlayReconciler { GooglePlayReconciler(app: self) }
}

extension PlayDeveloperError {
    /// True if the error concerns one request, and others may succeed.
    fileprivate var concernsOneRequest: Bool {
        switch self {
        case .tokenUnknown, .tokenEnded, .notThisApp, .stateInvalid, .failed, .refused, .answerInvalid: true
        case .accountRefused, .limited, .unreachable, .cancelled: false
        }
    }
}

/// The reconciliation while the service runs.
extension GooglePlayReconciler {
    /// The interval between lists of voided purchases, in seconds.
    private static let voidedInterval: Int64 = 60 * 60
    /// The runs that list voided purchases. Google allows 6000 such requests a day, and 30 in 30 seconds.
    private static let voidedRate = TokenBuckets.Rate(atOnce: 4, perMinute: 4)
    /// The interval between looks for silent purchases.
    private static let interval = Duration.seconds(60)
    /// The first and the longest pause after failures.
    private static let retries = interval...Duration.seconds(15 * 60)

    /// Requests to list voided purchases. Those that come before a run begins share it.
    package struct Requests: Sendable {
        fileprivate let stream: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation

        package init() {
            (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        }

        package func request() { continuation.yield() }
    }

    /// The task that reconciles from the start of the service on: silent purchases each minute, and voided ones each hour, and on
    /// request, but at most four times a minute.
    package func schedule(_ requests: Requests, metrics: ServiceMetrics, logger: Logger) -> Companion {
        Companion.untilShutdown({
            await withDiscardingTaskGroup { group in
                group.addTask {
                    await work("silent purchases", metrics, logger).run {
                        try await run("silent purchases", metrics, logger) { try await recordSilentPurchases() }
                        return true
                    }
                }
                group.addTask {
                    for await _ in AsyncStream.ticks(every: .seconds(Self.voidedInterval)) { requests.request() }
                }
                group.addTask { await reconcileVoidedPurchases(requests, metrics, logger) }
            }
        })
    }

    private func reconcileVoidedPurchases(_ requests: Requests, _ metrics: ServiceMetrics, _ logger: Logger) async {
        let runs = TokenBuckets(Self.voidedRate, clock: service.clock)
        _ = runs.take("")
        await work("voided purchases", metrics, logger).run(pausing: { rest, hasFailed in
            if hasFailed {
                try? await Task.sleep(for: rest)
                requests.request()
            }
            // One request begins the next run.
            for await _ in requests.stream { break }
            while !Task.isCancelled, runs.take("") != nil { try? await Task.sleep(for: .seconds(1)) }
        }) {
            try await run("voided purchases", metrics, logger) {
                let report = try await recordVoidedPurchases()
                if report.hasMore { requests.request() }
                return report
            }
            return true
        }
    }

    private func work(_ subject: String, _ metrics: ServiceMetrics, _ logger: Logger) -> RepeatedWork {
        RepeatedWork(
            "reconciliation with Google Play failed: \(subject)", Rhythm(every: Self.interval, retry: Self.retries),
            logger: logger, onFailure: { metrics.count(.reconciliations, "failed", code: $0) })
    }

    private func run(
        _ subject: String, _ metrics: ServiceMetrics, _ logger: Logger,
        _ reconcile: () async throws -> Reconciler.Report
    ) async throws {
        let report = try await reconcile()
        metrics.count(.reconciliations, "done")
        for _ in 0..<(report.outcomes[Self.givenUp] ?? 0) { metrics.count(.reconciliations, Self.givenUp) }
        if !report.outcomes.isEmpty { report.log(about: subject, in: logger) }
    }
}
