import Entitlements
import HTTPSupport
import Logging
import Proofs

/// Acknowledges the redeemed purchases of an app at Google Play, which refunds the others after three days. A consumable is consumed
/// instead, so that the customer can buy it again.
///
/// The ledger stores what is due before it stores the grant. So a purchase that was granted before a crash is acknowledged after it.
/// A purchase that nobody has redeemed, or whose payment is pending, is not acknowledged.
struct PurchaseAcknowledger: Sendable {
    let app: GooglePlayApp
    let metrics: ServiceMetrics
    let logger: Logger
    /// The limit on lines about purchases: if Google Play fails, it fails for all.
    private let lines = LogLimit()

    /// - Throws: `StorageFault`. An error of Google Play is counted, and the purchase is due again after a pause.
    func acknowledge(_ purchase: GooglePurchase) async throws {
        guard let product = purchase.purchase?.productIdentifier,
            try await app.purchases.beginAcknowledgement(of: purchase)
        else { return }
        do {
            if app.purchases.isConsumable(purchase) {
                try await app.client.consume(purchase.purchaseToken, of: product, within: .attempt)
            } else {
                try await app.client.acknowledge(
                    purchase.purchaseToken, of: product, as: purchase.isSubscription ? .subscription : .product,
                    within: .attempt)
            }
        } catch {
            guard !Task.isCancelled else { return }
            return try await record(error, about: purchase)
        }
        try await app.purchases.endAcknowledgement(of: purchase)
        app.questions.forget(purchase.purchaseToken)
        metrics.count(.acknowledgements, "accepted")
    }

    private func record(_ error: PlayDeveloperError, about purchase: GooglePurchase) async throws {
        if error == .stateInvalid || error.isOfToken {
            // The app may have acknowledged it, or Google Play has refunded it. Its state says what is still due.
            do {
                let answer = try await app.ask(about: purchase.purchaseToken, within: .attempt)
                _ = try await app.purchases.apply(answer.statement, recordedAs: answer.purchase)
                guard answer.purchase.acknowledgement != nil else {
                    return metrics.count(.acknowledgements, "settled")
                }
                // The statement makes it due at once. It counts as the attempt that has failed.
                _ = try await app.purchases.beginAcknowledgement(of: answer.purchase)
            } catch let error as PlayDeveloperError where error.isOfToken {
                if try await app.purchases.endOverdueAcknowledgement(of: purchase) {
                    metrics.count(.acknowledgements, "refused", code: error.code)
                    return log("purchase cannot be acknowledged", purchase, error)
                }
            } catch is PlayDeveloperError {
                // The purchase is due again.
            }
        }
        metrics.count(.acknowledgements, "failed", code: error.code)
        log("purchase not acknowledged yet", purchase, error)
    }

    /// The token stays out of the log: it is a secret of the customer.
    private func log(_ message: Logger.Message, _ purchase: GooglePurchase, _ error: PlayDeveloperError) {
        let deadline = purchase.acknowledgement?.deadline.rfc3339 ?? "none"
        logger.log(
            level: lines.level(.error, of: error.code, in: logger), message,
            metadata: [
                "code": "\(error.code)", "app": "\(purchase.key.app)",
                "product": "\(purchase.purchase?.productIdentifier ?? "")", "deadline": "\(deadline)",
            ])
    }
}

extension GooglePlayApp {
    /// The acknowledgements of the app's purchases, the earliest deadline first. One that fails does not block the others.
    ///
    /// - Parameter maximumAtOnce: The largest number of requests at the same time.
    package func acknowledger(metrics: ServiceMetrics, logger: Logger, maximumAtOnce: Int = 8) -> DurableWork {
        let acknowledger = PurchaseAcknowledger(app: self, metrics: metrics, logger: logger)
        return DurableWork("acknowledgements failed", in: purchases.entitlements.ledger, logger: logger) {
            try await DurableWork.each(
                of: { try await self.purchases.purchasesToAcknowledge(limit: DurableWork.pageSize) },
                atOnce: maximumAtOnce
            ) { try await acknowledger.acknowledge($0) }
        }
    }
}
