import Entitlements
import HTTPSupport
import Logging
import Proofs

/// Sends the reports about external purchases of an app to the App Store, as back ends have made them, and makes those of the other tokens.
///
/// Each waiting report is in the ledger, with the time of the next attempt. An attempt whose answer is lost is repeated under the same
/// identifier, and the App Store then says that it has the report.
struct ExternalPurchaseReporter: Sendable {
    /// Apple's number of a report beside another about the same data ("Error messages and codes").
    private static let simultaneousSubmission: Int64 = 26

    let reconciler: Reconciler
    let metrics: ServiceMetrics
    let logger: Logger
    /// The limit on lines about reports: if the App Store fails, it fails for all.
    private let lines = LogLimit()

    private var service: EntitlementService { reconciler.service }
    private var app: String { reconciler.app.bundleIdentifier }

    /// Makes the reports of tokens that no back end has reported, and sends all that wait.
    ///
    /// - Returns: True if there were any.
    /// - Throws: `StorageFault`. An error of the App Store is recorded.
    func reportAll() async throws -> Bool {
        try await service.reportUnreportedExternalPurchases(of: app, at: reconciler.origins)
        return try await DurableWork.each(of: {
            let due = try await service.externalPurchaseReportsToSend(
                of: app, at: reconciler.origins, limit: DurableWork.pageSize)
            // A report that is sent lets the next one about its token begin.
            return (due, !due.isEmpty)
        }) { try await send($0) }
    }

    private func send(_ report: ExternalPurchaseReport) async throws {
        guard try await service.beginAttempt(of: report) else { return }
        let mistakes: [ExternalPurchaseReport.Refusal.Mistake]?
        do throws(ReconciliationError) {
            let found = try await reconciler.client.sendExternalPurchaseReport(report.content)
            mistakes = if found != nil, try await isKnown(report) { nil } else { found }
        } catch {
            guard !Task.isCancelled else { return }
            return try await failed(report, error)
        }
        if let mistakes { try await refused(report, mistakes) } else { try await accepted(report) }
    }

    private func accepted(_ report: ExternalPurchaseReport) async throws {
        try await service.recordAcceptance(of: report)
        metrics.count(.externalPurchaseReports, service.clock.now() > report.dueAt ? "late" : "accepted")
    }

    /// True if the App Store has a refused report already, such as from an attempt whose answer was lost. Such a report has a mistake for
    /// each value that was submitted before, in no stated order, so that the App Store itself is asked.
    private func isKnown(_ report: ExternalPurchaseReport) async throws(ReconciliationError) -> Bool {
        guard let known = try await reconciler.client.externalPurchaseReport(report.key.requestIdentifier) else {
            return false
        }
        var identifiers: [String?] = []
        if case .array(let items)? = known["lineItems"] {
            identifiers = items.map { if case .object(let item) = $0 { item.text("lineItemId") } else { nil } }
        }
        return known.text("externalPurchaseId") == report.key.externalPurchaseIdentifier
            && known.text("status") == report.status.rawValue
            && Set(identifiers) == Set(report.lineItemIdentifiers)
    }

    private func refused(
        _ report: ExternalPurchaseReport, _ mistakes: [ExternalPurchaseReport.Refusal.Mistake]
    ) async throws {
        let isFinal = !mistakes.contains { $0.errorCode == Self.simultaneousSubmission }
        let error = ReconciliationError.refused(status: 400, code: mistakes.first?.errorCode)
        try await service.failed(report, .init(error.message, mistakes: mistakes), isFinal: isFinal)
        record(error, report, isFinal ? "refused" : "failed")
    }

    private func failed(_ report: ExternalPurchaseReport, _ error: ReconciliationError) async throws {
        try await service.failed(report, .init(error.message), isFinal: false)
        record(error, report, "failed")
    }

    private func record(_ error: ReconciliationError, _ report: ExternalPurchaseReport, _ outcome: String) {
        metrics.count(.externalPurchaseReports, outcome, code: error.code)
        // The token and the amounts stay out of the log.
        logger.log(
            level: lines.level(.error, of: error.code, in: logger),
            outcome == "refused" ? "external purchase report refused" : "external purchase report not sent yet",
            metadata: [
                "code": "\(error.code)", "app": "\(app)", "requestIdentifier": "\(report.key.requestIdentifier)",
                "dueAt": "\(report.dueAt.rfc3339)",
            ])
    }
}

extension Reconciler {
    /// The reports about external purchases to the reconciler's App Store, one after another. One that fails does not block those of other
    /// tokens.
    package func externalPurchaseReporter(metrics: ServiceMetrics, logger: Logger) -> DurableWork {
        let reporter = ExternalPurchaseReporter(reconciler: self, metrics: metrics, logger: logger)
        return DurableWork("external purchase reports failed", in: service.ledger, logger: logger) {
            try await reporter.reportAll()
        }
    }
}
