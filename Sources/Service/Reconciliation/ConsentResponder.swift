import Entitlements
import HTTPSupport
import Ledger
import Logging
import Proofs

/// Applies parents' withdrawals of consent (`RESCIND_CONSENT`). The App Store names only the app and the child's account, and is asked
/// for the child's purchases. The ledger stores the notifications, so one that arrived before a crash is applied after it.
struct ConsentResponder: Sendable {
    let reconciler: Reconciler
    let policy: ConsentPolicy
    let logger: Logger

    private var service: EntitlementService { reconciler.service }

    /// Applies all withdrawals. One that fails does not block the others.
    ///
    /// - Returns: True if there were any.
    func applyAll() async throws -> Bool {
        var (found, failed, failure) = (false, 0, ReconciliationError?.none)
        while true {
            let consents = try await service.ledger.read { [failed] in
                try $0.rescindedConsents(
                    of: reconciler.origins, in: reconciler.app.bundleIdentifier, at: service.clock.now(), after: failed,
                    limit: DurableWork.pageSize)
            }
            found = found || !consents.isEmpty
            for consent in consents {
                do { try await apply(consent) } catch let error as ReconciliationError where error.concernsOneRequest {
                    failure = error
                    failed += 1
                }
            }
            if consents.count < DurableWork.pageSize { break }
        }
        if let failure { throw failure }
        return found
    }

    private func apply(_ consent: RescindedConsent) async throws {
        var purchases: Set<TransactionKey> = []
        var cause = "no customer has redeemed a purchase of the account"
        if let customer = consent.appTransactionIdentifier {
            do { purchases = try await reconciler.purchases(ofCustomer: customer) } catch {
                // A retry would be refused again.
                guard error.isFinal else { throw error }
                cause = error.message
            }
        } else {
            cause = "the notification has no appTransactionId"
        }
        let (found, view) = (purchases, service.view)
        let told = try await service.ledger.write { [policy] in
            try $0.apply(consent, to: found, by: policy, from: view)
        }
        guard told == 0 else { return }
        logger.warning(
            "withdrawn consent of no known customer",
            metadata: ["notification": "\(consent.notificationUUID)", "cause": "\(cause)"])
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
