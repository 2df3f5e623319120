import Entitlements
import HTTPSupport
import Ledger
import Logging
import Proofs

/// Applies parents' withdrawals of consent (`RESCIND_CONSENT`). The App Store names the child by the app alone, and is asked for the
/// child's purchases. The ledger stores the notifications, so one that arrived before a crash is applied after it.
struct ConsentResponder: Sendable {
    let reconciler: Reconciler
    let policy: ConsentPolicy
    let logger: Logger

    private var service: EntitlementService { reconciler.service }

    /// Applies all withdrawals. One that fails does not block the others.
    ///
    /// - Returns: True if there were any.
    func applyAll() async throws -> Bool {
        let consents = try await service.ledger.read {
            try $0.rescindedConsents(
                of: reconciler.origins, in: reconciler.app.bundleIdentifier, at: service.clock.now(),
                limit: DurableWork.pageSize)
        }
        var failure: ReconciliationError?
        for consent in consents {
            do { try await apply(consent) } catch let error as ReconciliationError where error.concernsOneRequest {
                failure = error
            }
        }
        if let failure { throw failure }
        return !consents.isEmpty
    }

    private func apply(_ consent: RescindedConsent) async throws {
        var purchases: Set<TransactionKey> = []
        if let customer = consent.appTransactionIdentifier {
            do { purchases = try await reconciler.purchases(ofCustomer: customer) } catch {
                guard error.isFinal else { throw error }
                // A retry would be refused again: the customer has bought nothing that the App Store knows.
                logger.notice("withdrawn consent without purchases", metadata: ["code": "\(error.code)"])
            }
        }
        let (found, now) = (purchases, service.clock.now())
        try await service.ledger.write { [policy, accepted = service.accepted] in
            try $0.apply(consent, to: found, by: policy, at: now, accepting: accepted)
        }
    }
}

extension Reconciler {
    /// The work on withdrawals of the reconciler's App Store.
    package func consentResponder(by policy: ConsentPolicy, logger: Logger) -> DurableWork {
        let responder = ConsentResponder(reconciler: self, policy: policy, logger: logger)
        return DurableWork("withdrawn consent not applied yet", in: service.ledger, logger: logger) {
            try await responder.applyAll()
        }
    }
}
