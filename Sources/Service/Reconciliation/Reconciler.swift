import Catalog
import Entitlements
import Foundation
import HTTPSupport
import Ledger
import Logging
import Proofs
import ServiceLifecycle
import Vocabulary

/// Asks the App Store for missed notifications and transactions, and applies them. Apple stops retrying a notification after a
/// while, and an app may never present its proofs.
///
/// Everything is verified like a received notification or a presented proof, so a repeated request changes nothing twice.
package struct Reconciler: Sendable {
    /// The number of customers in one read of the ledger.
    private static let pageSize = 100
    /// The number of days of notifications in the first request.
    private static let firstDays: Int64 = 30
    /// The overlap with the previous request, in seconds. The App Store may learn late of an event, and its clock may differ.
    private static let overlap: Int64 = 60 * 60

    /// The number of failed requests in a row after which a run stops.
    private static let maximumFailures = 10
    /// The largest numbers of pages, of 20 notifications or transactions each: of a period's notifications, of all periods of a run, and of
    /// a customer's history.
    private static let (maximumPeriodPages, maximumRunPages, maximumHistoryPages) = (200, 20_000, 1000)
    /// The shortest period whose notifications are asked for, in seconds.
    private static let shortestPeriod: Int64 = 60

    let service: EntitlementService
    /// The app of the client's key.
    package let app: App
    package let client: AppStoreServerClient
    /// The origins of the purchases that the App Store at the client's address knows.
    package let origins: Set<Origin>

    /// The outcomes of a run and their counts.
    package struct Report: Sendable, Encodable {
        /// The counts by outcome (`granted`, `duplicate`, …), or by the code of a refusal.
        package var outcomes: [String: Int] = [:]
        /// True if the store has listed more than a run reads. The next run continues.
        package var hasMore = false

        mutating func count(_ outcome: String) { outcomes[outcome, default: 0] += 1 }

        /// Applies one proof, and counts the outcome, or the code of its refusal. Only a failure of the ledger is thrown.
        mutating func count(_ receive: () async throws -> NotificationOutcome) async throws {
            do { count(try await receive().rawValue) } catch let error as RedemptionError { count(error.code) }
        }

        func log(about subject: String, in logger: Logger) {
            let counts = outcomes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            logger.info(
                "reconciled", metadata: ["subject": "\(subject)", "outcomes": "\(counts.joined(separator: ","))"])
        }

        /// - Throws: `ReconciliationError`, `refusedByService`, if the service refused a proof for a reason that the operator must
        ///   correct.
        func check() throws(ReconciliationError) {
            if let code = outcomes.keys.sorted().first(where: { ErrorRule(refusal: $0)?.isOfOperator ?? false }) {
                throw .refusedByService(code: code)
            }
        }
    }

    /// Applies the notifications of a period, as far as the App Store has them.
    ///
    /// - Parameter days: The length of the period; nil for all since the last run.
    /// - Throws: `ReconciliationError`, `StorageFault`. Notifications that were applied before the error stay applied.
    package func recordNotifications(days: Int64? = nil) async throws -> Report {
        let now = service.clock.now()
        let subject = subject("notifications")
        let last = try await service.checkpoint(ofReconciliation: subject)?.until
        let oldest = now.adding(days: -(days ?? maximumDays)).adding(seconds: 60)
        var start = oldest
        if days == nil {
            start = max(oldest, last?.adding(seconds: -Self.overlap) ?? now.adding(days: -Self.firstDays))
        }
        // A run for given days may leave a gap after the last run. It then does not move the checkpoint.
        let movesCheckpoint = days == nil || last.map { start <= $0 } ?? false
        return try await recordNotifications(from: start, until: now.adding(seconds: 60)) { reached, report in
            try report.check()
            if movesCheckpoint { try await service.setReconciled(subject, until: min(reached, now), report) }
        }
    }

    /// The age of the oldest notification that the App Store keeps, in days (App Store Server API, "Get Notification History").
    private var maximumDays: Int64 { origins.contains(.appleProduction) ? 180 : 30 }

    /// Applies the notifications of a period. One with too many pages is read in parts, so that each part moves the checkpoint, and a list
    /// without an end moves none.
    ///
    /// - Parameter reach: Called with the end of each part that was read to its end, from the first one on.
    private func recordNotifications(
        from start: Timestamp, until end: Timestamp, _ reach: (Timestamp, Report) async throws -> Void
    ) async throws -> Report {
        var (report, pages) = (Report(), 0)
        var (from, seconds) = (start, end.secondsSince1970 - start.secondsSince1970 + 1)
        while from < end {
            guard pages <= Self.maximumRunPages - Self.maximumPeriodPages else {
                report.hasMore = true
                return report
            }
            let until = from.adding(seconds: seconds) < end ? from.adding(seconds: seconds) : end
            let before = pages
            if try await readNotifications(from: from, until: until, into: &report, counting: &pages) {
                from = until
                if 2 * (pages - before) < Self.maximumPeriodPages { seconds *= 2 }
                try await reach(until, report)
            } else {
                guard seconds > Self.shortestPeriod else { throw ReconciliationError.answerInvalid }
                seconds = max(Self.shortestPeriod, seconds / 2)
            }
        }
        return report
    }

    /// - Returns: False if the period has more notifications than one list may have.
    private func readNotifications(
        from start: Timestamp, until end: Timestamp, into report: inout Report, counting pages: inout Int
    ) async throws -> Bool {
        var (listed, paginationToken) = (ListedPages(upTo: Self.maximumPeriodPages), String?.none)
        repeat {
            let page = try await client.notificationHistory(from: start, until: end, paginationToken: paginationToken)
            pages += 1
            for item in page.notificationHistory {
                try await report.count { try await service.receive(notification: Array(item.signedPayload.utf8)) }
            }
            do { paginationToken = try listed.next(page.next) } catch {
                guard error == .unfinished else { throw ReconciliationError.answerInvalid }
                return false
            }
        } while paginationToken != nil
        return true
    }

    /// The checkpoint of the last complete run; nil if there was none.
    package func checkpoint(of subject: ReconciliationRuns.Subject) async throws -> ReconciliationCheckpoint? {
        try await service.checkpoint(ofReconciliation: self.subject(subject.rawValue))
    }

    /// The time of the last complete run over the histories of all customers; nil if there was none.
    func lastHistoryRun() async throws -> Timestamp? {
        try await service.checkpoint(ofReconciliation: historyCheckpoint)?.until
    }

    private var historyCheckpoint: String { subject("histories") }

    /// The ledger's name for a checkpoint. The name for the first app omits the app, so a service that adds a second app keeps
    /// its checkpoints.
    private func subject(_ name: String) -> String {
        let isFirst = app.bundleIdentifier == service.apps.first.bundleIdentifier
        return "\(name) of \(client.url.absoluteString)" + (isFirst ? "" : " for \(app.bundleIdentifier)")
    }

    /// Applies all transactions of every customer in the ledger (purchases, renewals and refunds), and the renewal state of
    /// their subscriptions. As with notifications, a transaction goes to the owner of the purchase or to the user of its token.
    /// Any other transaction waits for a user who presents it. Then it does the same for the purchases that imports expect: the
    /// App Store's answer confirms them.
    ///
    /// If the App Store refuses a customer, the report counts the code, and the run continues with the others. A run in which a history
    /// was not read to its end does not move the checkpoint.
    ///
    /// - Throws: `ReconciliationError`, `StorageFault`. Transactions that were applied before the error stay applied.
    package func recordHistories() async throws -> Report {
        let now = service.clock.now()
        var report = Report()
        var failures = Failures()
        let (origins, app) = (origins, app.bundleIdentifier)
        try await recordHistories(after: 0, \.number, into: &report, &failures) {
            try $0.customers(after: $1, of: origins, in: app, limit: Self.pageSize)
        }
        try await recordHistories(after: "", \.transactionIdentifier, into: &report, &failures) {
            try $0.expectedCustomers(after: $1, of: origins, in: app, limit: Self.pageSize)
        }
        try report.check()
        if failures.unfinished == 0 { try await service.setReconciled(historyCheckpoint, until: now, report) }
        return report
    }

    /// - Parameters:
    ///   - start: The position before all customers.
    ///   - position: The position of a customer in the list.
    ///   - page: Returns the customers after a position.
    private func recordHistories<Position: Sendable>(
        after start: Position,
        _ position: (Customer) -> Position,
        into report: inout Report,
        _ failures: inout Failures,
        _ page: @escaping @Sendable (LedgerTransaction, Position) throws -> [Customer]
    ) async throws {
        var last = start
        while true {
            let customers = try await service.ledger.read { [last] in try page($0, last) }
            guard let next = customers.last else { return }
            for customer in customers {
                if let error = try await failures.attempt({ try await recordHistory(of: customer, into: &report) }) {
                    report.count(error.code)
                }
            }
            last = position(next)
        }
    }

    /// The failed requests in a row.
    private struct Failures {
        private var count = 0
        /// The number of all failed requests that may succeed later.
        private(set) var unfinished = 0

        /// Performs a request.
        ///
        /// - Returns: The error of this request alone; nil for a success.
        /// - Throws: An error after which a run stops.
        mutating func attempt(_ request: () async throws -> Void) async throws -> ReconciliationError? {
            do {
                try await request()
                count = 0
                return nil
            } catch let error as ReconciliationError {
                count += 1
                if !error.isFinal { unfinished += 1 }
                guard error.concernsOneRequest, count < maximumFailures || error.isFinal else { throw error }
                return error
            }
        }
    }

    private func recordHistory(of customer: Customer, into report: inout Report) async throws {
        var (pages, revision) = (ListedPages(upTo: Self.maximumHistoryPages), String?.none)
        repeat {
            let page = try await client.transactionHistory(of: customer.transactionIdentifier, revision: revision)
            for signed in page.signedTransactions {
                try await report.count { try await service.receive(statement: Array(signed.utf8)) }
            }
            do { revision = try pages.next(page.next) } catch { throw ReconciliationError.answerInvalid }
        } while revision != nil
        try await recordStatuses(of: customer, into: &report)
    }

    /// The purchases of a customer by their original transactions, as the App Store lists them. Nothing is applied.
    ///
    /// - Parameter identifier: A transaction of the customer, or the number of the app and the account (`appTransactionId`).
    func purchases(ofCustomer identifier: String) async throws(ReconciliationError) -> Set<TransactionKey> {
        var (pages, revision) = (ListedPages(upTo: Self.maximumHistoryPages), String?.none)
        var purchases: Set<TransactionKey> = []
        repeat {
            let page = try await client.transactionHistory(of: identifier, revision: revision)
            for signed in page.signedTransactions {
                let proof: VerifiedProof
                do { proof = try service.verify(Array(signed.utf8), of: app.bundleIdentifier) } catch {
                    throw ReconciliationError.refusedByService(code: error.code)
                }
                guard case .transaction(let transaction) = proof.content, origins.contains(proof.origin) else {
                    throw ReconciliationError.answerInvalid
                }
                purchases.insert(
                    TransactionKey(
                        app: app.bundleIdentifier, origin: proof.origin, identifier: transaction.originalTransactionId))
            }
            do { revision = try pages.next(page.next) } catch { throw ReconciliationError.answerInvalid }
        } while revision != nil
        return purchases
    }

    /// Applies the renewal state of a customer's subscriptions, which the transactions do not contain.
    private func recordStatuses(of customer: Customer, into report: inout Report) async throws {
        guard try await !service.subscriptions(of: customer.user).isEmpty else { return }
        try await recordStatuses(ofCustomerWith: customer.transactionIdentifier, into: &report)
    }

    /// Applies the renewal state of subscriptions of this app.
    ///
    /// - Parameters:
    ///   - originals: The original transactions. Others than those of this app and its origins are left out.
    ///   - limits: The time for each answer.
    /// - Throws: `ReconciliationError` if the App Store may answer later, also for one of them; `StorageFault`.
    func recordStatuses(
        of originals: Set<TransactionKey>, within limits: AppStoreServerClient.TimeLimits = .schedule
    ) async throws {
        var report = Report()
        var failure: ReconciliationError?
        var failures = Failures()
        for original in originals.sorted()
        where original.app == app.bundleIdentifier && origins.contains(original.origin) {
            let error = try await failures.attempt {
                try await recordStatuses(ofCustomerWith: original.identifier, within: limits, into: &report)
            }
            if let error, !error.isFinal { failure = error }
        }
        if let failure { throw failure }
        try report.check()
    }

    private func recordStatuses(
        ofCustomerWith transaction: String, within limits: AppStoreServerClient.TimeLimits = .schedule,
        into report: inout Report
    ) async throws {
        let statuses = try await client.subscriptionStatuses(of: transaction, within: limits)
        for last in statuses.data.flatMap(\.lastTransactions) {
            guard let transaction = last.signedTransactionInfo, let renewalInfo = last.signedRenewalInfo else {
                continue
            }
            try await report.count {
                try await service.receive(statement: Array(transaction.utf8), renewalInfo: Array(renewalInfo.utf8))
            }
        }
    }
}

extension EntitlementService {
    /// The checkpoint of the last complete run about a subject; nil if there was none, or if its clock was ahead. `ClockWatch` deletes
    /// such a checkpoint, but a run may begin before.
    func checkpoint(ofReconciliation subject: String) async throws -> ReconciliationCheckpoint? {
        let last = try await ledger.read { try $0.checkpoint(ofReconciliation: subject) }
        return last.flatMap { $0.until > clock.now().adding(seconds: Self.checkpointTolerance) ? nil : $0 }
    }

    /// The difference of the clocks of two services that is no fault, in seconds.
    private static let checkpointTolerance: Int64 = 60

    /// Writes a checkpoint, unless the clock has gone back since the moment: nobody knows then until when the run has fetched.
    func setReconciled(_ subject: String, until moment: Timestamp, _ report: Reconciler.Report) async throws {
        guard clock.now() >= moment else { return }
        let findings = report.outcomes
        try await ledger.write { try $0.setReconciled(subject, until: moment, findings: findings) }
    }

    /// The reconciliation of an app's purchases of some origins with their App Store.
    package func reconciler(
        of app: App, asking client: AppStoreServerClient, about origins: Set<Origin>
    ) -> Reconciler {
        Reconciler(service: self, app: app, client: client, origins: origins)
    }
}

/// Reconciles with the App Store at intervals and on request while the service runs.
package struct ReconciliationSchedule: Service {
    /// The first and the longest pause after failures, unless the regular interval is shorter.
    private static let retries = Duration.seconds(60)...Duration.seconds(900)

    fileprivate let reconciler: Reconciler
    fileprivate let notificationSeconds: Int64?
    fileprivate let historySeconds: Int64?
    fileprivate let runs: ReconciliationRuns
    fileprivate let metrics: ServiceMetrics
    fileprivate let logger: Logger

    private var clock: any WallClock { reconciler.service.clock }

    /// Reconciles until the service stops.
    package func run() async throws {
        let work = Companion.untilShutdown({
            await withDiscardingTaskGroup { group in
                group.addTask {
                    if notificationSeconds == nil { await runs.wait(for: .notifications, upTo: nil) }
                    await repeatedly(every: notificationSeconds, .notifications) {
                        try await reconciler.recordNotifications()
                    }
                }
                group.addTask {
                    await waitForNextHistoryRun()
                    await repeatedly(every: historySeconds, .histories) { try await reconciler.recordHistories() }
                }
            }
        })
        try await work.run()
    }

    /// Waits for the rest of the interval after a restart, so that a restart does not request all histories again.
    private func waitForNextHistoryRun() async {
        guard let interval = historySeconds else { return await runs.wait(for: .histories, upTo: nil) }
        do {
            guard let last = try await reconciler.lastHistoryRun() else { return }
            let passed = clock.now().secondsSince1970 - last.secondsSince1970
            await runs.wait(for: .histories, upTo: min(max(0, interval - passed), interval))
        } catch {
            // The run begins at once.
            FailureLog.Line.failed(FailureCause(error), count: 1).log("last reconciliation not read", in: logger)
        }
    }

    /// - Parameter interval: The interval in seconds; nil to run only on request.
    private func repeatedly(
        every interval: Int64?,
        _ subject: ReconciliationRuns.Subject,
        _ reconcile: () async throws -> Reconciler.Report
    ) async {
        let work = RepeatedWork(
            "reconciliation failed: \(subject.rawValue)", Rhythm(every: Self.retries.lowerBound, retry: Self.retries),
            logger: logger,
            onFailure: { code in
                runs.end(subject, [:], errorCode: code, at: clock.now())
                metrics.count(.reconciliations, "failed", code: code)
            })
        var hasMore = false
        await work.run(pausing: { rest, hasFailed in
            let rest = Int64((rest / .seconds(1)).rounded(.up))
            await runs.wait(for: subject, upTo: hasFailed ? interval.map { min($0, rest) } : hasMore ? rest : interval)
        }) {
            runs.begin(subject, at: clock.now())
            let report = try await reconcile()
            runs.end(subject, report.outcomes, errorCode: nil, at: clock.now())
            metrics.count(.reconciliations, "done")
            report.log(about: subject.rawValue, in: logger)
            hasMore = report.hasMore
            return true
        }
    }
}

extension Reconciler {
    /// The runs at intervals and on request.
    ///
    /// - Parameters:
    ///   - notificationSeconds: The interval for the notifications since the last run; nil for never.
    ///   - historySeconds: The interval for the histories of all customers; nil for never.
    ///   - runs: The record of the runs, and the requests for others.
    package func schedule(
        notificationSeconds: Int64?,
        historySeconds: Int64?,
        runs: ReconciliationRuns = ReconciliationRuns(),
        metrics: ServiceMetrics,
        logger: Logger
    ) -> ReconciliationSchedule {
        ReconciliationSchedule(
            reconciler: self, notificationSeconds: notificationSeconds, historySeconds: historySeconds, runs: runs,
            metrics: metrics, logger: logger)
    }
}
