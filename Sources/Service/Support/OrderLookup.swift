import Features
import Foundation
import HTTPSupport
import Proofs

/// The search for the purchases of an order, whose number no proof states: the App Store leads from it to transactions.
struct OrderLookup: Sendable {
    let service: EntitlementService
    /// The App Stores that know orders.
    let clients: [AppStoreServerClient]

    /// - Parameter app: The bundle identifier of the only app whose orders are looked up; nil for all apps.
    /// - Returns: Nil if no App Store knows the order.
    /// - Throws: `ReconciliationError` if no App Store knows the order and one failed to answer.
    func purchases(of order: OrderIdentifier, in app: String?) async throws -> PurchaseLookup? {
        let signed = try await signedTransactions(of: order, in: app)
        return signed.isEmpty ? nil : try await purchases(of: order, in: app, stating: signed)
    }

    /// The signed transactions of an order; empty if no App Store knows it.
    fileprivate func signedTransactions(of order: OrderIdentifier, in app: String?) async throws -> [String] {
        var failure: ReconciliationError?
        for client in clients where app?.hasSameBytes(as: client.key.bundleIdentifier) ?? true {
            do {
                let signed = try await client.lookUpOrderId(order).transactions
                if !signed.isEmpty { return signed }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return []
    }

    private func purchases(
        of order: OrderIdentifier,
        in app: String?,
        stating signed: [String]
    ) async throws -> PurchaseLookup {
        let service = service.limited(to: app)
        var known: [KnownPurchase] = []
        var unclaimed: [UnclaimedPurchase] = []
        var unrecorded: [UnrecordedTransaction] = []
        for proof in signed {
            let (stated, origin) = try await verified(Array(proof.utf8), of: app)
            let purchases = try await service.purchases(ofTransaction: stated.originalTransactionId).filter {
                $0.status.origin == origin
                    && $0.status.originalTransactionIdentifier.hasSameBytes(as: stated.originalTransactionId)
            }
            let parked = try await service.unclaimedPurchases(
                ofTransaction: stated.originalTransactionId, after: nil, limit: 100
            ).filter { $0.origin == origin && $0.app.hasSameBytes(as: stated.bundleId) }
            known += purchases.filter { !known.contains($0) }
            unclaimed += parked.filter { !unclaimed.contains($0) }
            let recorded =
                purchases.flatMap(\.transactions).map(\.transactionIdentifier) + parked.map(\.transactionIdentifier)
            if !recorded.contains(where: { $0.hasSameBytes(as: stated.transactionId) }) {
                unrecorded.append(UnrecordedTransaction(stated: stated, origin: origin))
            }
        }
        return PurchaseLookup(
            purchases: known, unclaimed: unclaimed, orderId: order.text, unrecorded: unrecorded)
    }

    fileprivate func verified(_ proof: [UInt8], of app: String? = nil) async throws -> (
        JWSTransactionDecodedPayload, Origin
    ) {
        do {
            let verified = try await BlockingWork.process(proof.count) { try service.verify(proof, of: app) }
            guard case .transaction(let transaction) = verified.content else {
                throw ReconciliationError.answerInvalid
            }
            return (transaction, verified.origin)
        } catch let error as RedemptionError {
            throw ReconciliationError.refusedByService(code: error.code)
        }
    }
}

extension EntitlementService {
    /// The original transactions of an order; empty if the text is no order, or if no App Store knows it.
    ///
    /// - Parameter clients: The App Stores that know orders.
    /// - Throws: `ReconciliationError` if no App Store knows the order and one failed to answer.
    package func originalTransactions(ofOrder text: String, asking clients: [AppStoreServerClient]) async throws
        -> [String]
    {
        guard let order = OrderIdentifier(text) else { return [] }
        let lookup = OrderLookup(service: self, clients: clients)
        var identifiers: [ByteKey] = []
        for proof in try await lookup.signedTransactions(of: order, in: nil) {
            let identifier = ByteKey(try await lookup.verified(Array(proof.utf8)).0.originalTransactionId)
            if !identifiers.contains(identifier) { identifiers.append(identifier) }
        }
        return identifiers.map(\.text)
    }
}
