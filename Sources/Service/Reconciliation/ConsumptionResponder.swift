import Catalog
import Entitlements
import HTTPSupport
import Ledger
import Logging
import Proofs

/// The operator's answer to the App Store about refund requests. It exists only if customers have consented to it (App Store
/// Server API, "Send Consumption Information"). `sampleContentProvided` is true if customers could try the content before they bought
/// it.
package typealias ConsumptionAnswer = (refundPreference: RefundPreference?, sampleContentProvided: Bool)

/// Answers the App Store's questions about refund requests (`CONSUMPTION_REQUEST`) before they expire. The ledger stores the
/// questions, so one that arrived before a crash is answered after it.
struct ConsumptionResponder: Sendable {
    let reconciler: Reconciler
    let answer: ConsumptionAnswer
    let metrics: ServiceMetrics
    let logger: Logger

    private var service: EntitlementService { reconciler.service }

    /// Answers all open questions. A question that fails does not block the others.
    ///
    /// - Returns: True if there were any.
    func answerAll() async throws -> Bool {
        var found = false
        while true {
            let requests = try await service.ledger.read {
                try $0.openConsumptionRequests(
                    at: service.clock.now(), of: reconciler.origins, in: reconciler.app.bundleIdentifier,
                    limit: DurableWork.pageSize)
            }
            found = found || !requests.isEmpty
            var failure: ReconciliationError?
            for request in requests {
                do {
                    try await answer(request)
                } catch let error as ReconciliationError where error.concernsOneRequest {
                    failure = error
                }
            }
            if let failure { throw failure }
            if requests.count < DurableWork.pageSize { return found }
        }
    }

    private func answer(_ request: OpenConsumptionRequest) async throws {
        let (catalog, preference) = (reconciler.app.catalog, answer.refundPreference)
        let decision = try await service.ledger.read {
            try RefundDecision(about: request, by: catalog, otherwise: preference, in: $0)
        }
        var refusal: String?
        do {
            try await reconciler.client.sendConsumptionInformation(
                information(about: request, decision), of: request.transactionIdentifier)
            metrics.count(.consumptionAnswers, "accepted")
        } catch {
            guard error.isFinal else { throw error }
            // A retry would be refused again.
            metrics.count(.consumptionAnswers, "refused", code: error.code)
            logger.warning("consumption answer refused", metadata: ["error": "\(error.message)"])
            refusal = error.code
        }
        try await service.ledger.write { [refusal] transaction in
            let now = service.clock.now()
            guard let decision else { return try transaction.settle(request, at: now) }
            try transaction.settle(request, deciding: decision, refusedAs: refusal, at: now)
        }
    }

    /// - Parameter decision: The decision of the rules; nil without rules.
    private func information(
        about request: OpenConsumptionRequest,
        _ decision: RefundDecision?
    ) -> AppStoreServerClient.ConsumptionRequest {
        let ruled = decision.flatMap { $0.isDryRun ? nil : $0.answer }
        // Of other products, the App Store would have to be told the percentage.
        let isUnknownShare = answer.refundPreference == .grantProrated && !request.isSubscription
        return AppStoreServerClient.ConsumptionRequest(
            customerConsented: true,
            deliveryStatus: request.isRedeemed ? .delivered : .undeliveredOther,
            sampleContentProvided: answer.sampleContentProvided,
            refundPreference: ruled.map(\.preference) ?? (isUnknownShare ? nil : answer.refundPreference),
            consumptionPercentage: ruled?.percentage)
    }
}

extension Reconciler {
    /// The pauses after the App Store has failed to accept an answer. It waits for twelve hours.
    private static let pausesAfterRefusedAnswer = Duration.seconds(60)...Duration.seconds(15 * 60)

    /// The answers to the questions of the reconciler's App Store.
    package func consumptionResponder(
        answering answer: ConsumptionAnswer, metrics: ServiceMetrics, logger: Logger
    ) -> DurableWork {
        let responder = ConsumptionResponder(reconciler: self, answer: answer, metrics: metrics, logger: logger)
        return DurableWork(
            "consumption request not answered yet", in: service.ledger, logger: logger,
            retry: Self.pausesAfterRefusedAnswer,
            onFailure: { metrics.count(.consumptionAnswers, "failed", code: $0) },
            perform: { try await responder.answerAll() })
    }
}
