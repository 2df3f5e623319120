import Catalog
import Entitlements
import HTTPSupport
import Ledger
import Logging
import Proofs

/// The operator's answer to Google Play about disputed payments. It exists only if customers have consented to it, because it tells what
/// they have used. `sampleContentProvided` is true if customers could try the content before they bought it.
package typealias RefundReviewAnswer = (preference: GoogleRefundPreference, sampleContentProvided: Bool)

/// Answers Google Play's questions about payments that banks dispute (`orders.reviewrefund`), with the evidence of the ledger.
///
/// The ledger has the question before its notification is answered. So one that arrived before a crash is answered after it.
struct RefundReviewResponder: Sendable {
    let app: GooglePlayApp
    let answer: RefundReviewAnswer
    let metrics: ServiceMetrics
    let logger: Logger
    /// The limit on lines about questions: if Google Play fails, it fails for all.
    private let lines = LogLimit()

    private var purchases: GooglePurchaseService { app.purchases }

    /// - Throws: `StorageFault`. An error of Google Play is counted, and the question is due again after a pause.
    func answer(_ review: PendingRefundReview) async throws {
        guard try await purchases.beginAnswer(to: review) else { return }
        guard let token = review.pendingRefundToken else {
            throw BrokenInvariant("a question that waits has the token of its answer", review.notificationUUID)
        }
        let evidence: RefundEvidence
        do { evidence = try await self.evidence(about: review) } catch let error as PlayDeveloperError {
            guard !Task.isCancelled else { return }
            metrics.count(.refundReviews, "failed", code: error.code)
            return log("disputed payment not answered yet", review, error)
        }
        let rules = purchases.app.catalog.refundRules
        let decided =
            rules?.answer(to: evidence.facts, otherwise: answer.preference.ofRules)
            ?? RefundAnswer(answer.preference.ofRules, to: evidence.facts)
        let isDryRun = rules?.isDryRun ?? false
        let preference = isDryRun ? answer.preference : decided.googlePreference
        var refusal: PlayDeveloperError?
        do {
            try await app.client.review(
                order: review.orderId, body(token, preference, evidence), within: .attempt)
        } catch {
            guard !Task.isCancelled else { return }
            guard case .refused = error else {
                metrics.count(.refundReviews, "failed", code: error.code)
                return log("disputed payment not answered yet", review, error)
            }
            refusal = error
        }
        try await purchases.settle(review, by: evidence, decided, isDryRun: isDryRun, refusedAs: refusal?.code)
        guard let refusal else { return metrics.count(.refundReviews, "accepted") }
        // A retry would be refused again.
        metrics.count(.refundReviews, "refused", code: refusal.code)
        log("answer about a disputed payment refused", review, refusal)
    }

    /// The evidence of the ledger. About an order that it does not have, Google Play is asked: the notification has no purchase token, and a
    /// renewal may be newer than the last answer.
    ///
    /// - Throws: `PlayDeveloperError` while there is time to ask again: Google Play counts the first answer alone. `StorageFault`.
    private func evidence(about review: PendingRefundReview) async throws -> RefundEvidence {
        let known = try await purchases.evidence(about: review)
        if known.isRedeemed { return known }
        var order: GooglePlayOrder?
        do {
            order = try await app.client.order(review.orderId, within: .attempt)
            if let token = order?.purchaseToken { _ = try await app.refresh(token, within: .attempt) }
        } catch let error as PlayDeveloperError {
            let isLate = review.deadline <= purchases.entitlements.clock.now().adding(seconds: Self.lastHour)
            guard isLate || error.isOfToken else { throw error }
        }
        guard let order else { return known }
        return try await purchases.evidence(about: review, seeing: order)
    }

    /// The time before the deadline from which on an answer with less evidence is better than none, in seconds.
    private static let lastHour: Int64 = 3600

    /// The body of `orders.reviewrefund` (developers.google.com/android-publisher/api-ref/rest/v3/orders/reviewrefund). The ledger knows
    /// no addresses and no places.
    private func body(
        _ token: String, _ preference: GoogleRefundPreference, _ evidence: RefundEvidence
    ) -> JSONObject {
        var body: JSONObject = [
            "pendingRefundToken": .string(token), "sampleContentProvided": .bool(answer.sampleContentProvided),
            "refundPreference": .string(preference.rawValue),
        ]
        if let consumed = evidence.consumed {
            _ = body.add("consumptionPercentageMilliunits", .integer(Int64(consumed)))
        }
        let events = evidence.usages.map { usage in
            var event: JSONObject = [
                "consumptionTime": .string(usage.time.rfc3339),
                "consumptionItemDescription": .string(usage.description),
            ]
            if let account = evidence.obfuscatedAccountId { _ = event.add("obfuscatedAccountId", .string(account)) }
            return JSONValue.object(event)
        }
        if !events.isEmpty { _ = body.add("consumptionUsageEvents", .array(events)) }
        return body
    }

    /// The token stays out of the log: it is the secret of the answer.
    private func log(_ message: Logger.Message, _ review: PendingRefundReview, _ error: PlayDeveloperError) {
        logger.log(
            level: lines.level(.error, of: error.code, in: logger), message,
            metadata: [
                "code": "\(error.code)", "app": "\(review.app)", "order": "\(review.orderId)",
                "deadline": "\(review.deadline.rfc3339)",
            ])
    }
}

extension GooglePlayApp {
    /// The answers to Google Play's questions about disputed payments of the app, the earliest deadline first. One that fails does not
    /// block the others.
    package func refundReviewResponder(
        answering answer: RefundReviewAnswer, metrics: ServiceMetrics, logger: Logger
    ) -> DurableWork {
        let responder = RefundReviewResponder(app: self, answer: answer, metrics: metrics, logger: logger)
        return DurableWork("answers about disputed payments failed", in: purchases.entitlements.ledger, logger: logger)
        {
            try await DurableWork.each(
                of: { try await self.purchases.refundReviewsToAnswer(limit: DurableWork.pageSize) }
            ) { try await responder.answer($0) }
        }
    }
}
