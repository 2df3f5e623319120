import Entitlements
import HTTPSupport
import Logging

/// Passes the external transactions of an app, and their refunds, on to Google Play, as back ends have reported them.
///
/// Each waiting report is in the ledger, with the time of the next attempt. An attempt whose answer is lost is repeated, and Google Play then says
/// that it has the transaction.
struct ExternalTransactionReporter: Sendable {
    let app: GooglePlayApp
    let metrics: ServiceMetrics
    let logger: Logger
    /// The limit on lines about reports: if Google Play fails, it fails for all.
    private let lines = LogLimit()

    /// - Throws: `StorageFault`. An error of Google Play is recorded.
    func passOn(_ report: ExternalTransactionReport) async throws {
        guard try await app.purchases.beginAttempt(of: report) else { return }
        let identifier = report.key.transactionIdentifier
        do throws(PlayDeveloperError) {
            if report.key.part == .sale {
                try await app.client.report(
                    externalTransaction: identifier, report.content, within: .attempt)
            } else {
                try await app.client.refund(
                    externalTransaction: identifier, report.content, within: .attempt)
            }
        } catch {
            guard !Task.isCancelled else { return }
            guard try await isKnown(report, despite: error) else { return try await record(error, about: report) }
        }
        try await app.purchases.passedOn(report)
        metrics.count(.externalTransactions, "accepted")
    }

    /// True if an error says that Google Play has the report already, such as from an attempt whose answer was lost.
    private func isKnown(_ report: ExternalTransactionReport, despite error: PlayDeveloperError) async throws -> Bool {
        switch (report.key.part, error) {
        case (.sale, .failed(409)): return true
        case (.sale, _): return false
        case (_, .refused(400, _)):
            let known = try? await app.client.externalTransaction(
                report.key.transactionIdentifier, within: .attempt)
            guard let known else { return false }
            if report.key.part == .fullRefund { return known.isCanceled }
            let expected = try await app.purchases.preTaxMicros(after: report)
            return expected != nil && known.preTaxMicros == expected
        default: return false
        }
    }

    private func record(_ error: PlayDeveloperError, about report: ExternalTransactionReport) async throws {
        // A service account without rights, a limited rate and a server that fails mend.
        let isFinal = if case .refused = error { true } else { false }
        try await app.purchases.failed(report, error.rule.detail, isFinal: isFinal)
        metrics.count(.externalTransactions, isFinal ? "refused" : "failed", code: error.code)
        // The content stays out of the log: it has the token of the customer's app.
        logger.log(
            level: lines.level(.error, of: error.code, in: logger),
            isFinal ? "external transaction refused" : "external transaction not passed on yet",
            metadata: [
                "code": "\(error.code)", "app": "\(report.app)", "transaction": "\(report.key.transactionIdentifier)",
            ])
    }
}

extension GooglePlayApp {
    /// The reports of the app's external transactions to Google Play, one after another. One that fails does not block those of other
    /// transactions.
    package func externalTransactionReporter(metrics: ServiceMetrics, logger: Logger) -> DurableWork {
        let reporter = ExternalTransactionReporter(app: self, metrics: metrics, logger: logger)
        return DurableWork("external transactions failed", in: purchases.entitlements.ledger, logger: logger) {
            let (purchases, realm) = (self.purchases, self.client.realm)
            return try await DurableWork.each(
                of: { try await purchases.externalTransactionsToPassOn(in: realm, limit: DurableWork.pageSize) }
            ) { try await reporter.passOn($0) }
        }
    }
}
