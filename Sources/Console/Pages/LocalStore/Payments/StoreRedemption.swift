import AppStore
import Features
import HTTPSupport
import Ledger
import Proofs

/// The app's part of a purchase: it hands the proof to the service, and finishes the transaction once the service has
/// recorded it.
struct StoreRedemption: Sendable {
    let store: Store
    let entitlements: EntitlementService

    /// - Throws: `RedemptionError` if no purchase of the proof is the user's. The transaction then stays in the queue.
    func redeem(_ transactionIdentifier: String, for user: User, by actor: AuditActor) async throws {
        let proof = Array(
            try await BlockingWork.run { [store] in try store.signedTransaction(of: transactionIdentifier) }.utf8)
        let redemption: Redemption
        do {
            redemption = try await entitlements.redeem(proof, for: user, by: actor)
        } catch {
            // The refusal is shown even if it cannot be recorded.
            try? await entitlements.recordRefusal(error, for: user, by: actor) {
                entitlements.claims(ofAuthentic: proof)
            }
            throw error
        }
        guard redemption.transactions.allSatisfy(\.mayFinish) else { return }
        try await BlockingWork.run { [store] in
            let listed = try store.listedTransaction(transactionIdentifier)
            guard let payment = listed.payment, payment.state.isAwaitingFinish else { return }
            _ = try store.finish(payment.identifier, account: listed.transaction.account)
        }
    }

    /// The purchases at the service that have the transaction, each with its owner.
    func owners(of transactionIdentifier: String) async throws -> [KnownPurchase] {
        try await entitlements.purchases(ofTransaction: transactionIdentifier)
    }
}
