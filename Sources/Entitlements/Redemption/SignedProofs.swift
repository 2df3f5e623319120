import Catalog
import Ledger
import Proofs

/// The stores whose proofs a signature proves: the App Store, Xcode and local stores, and Google Play where the service may not ask it.
package struct SignedProofs: RedemptionDoor.Store {
    /// The largest number of purchases of one proof whose refusal is recorded.
    private static let maximumRefusals = 10

    private let service: EntitlementService

    package init(_ service: EntitlementService) { self.service = service }

    package func verify(
        _ proof: [UInt8], from presenter: RedemptionDoor.Presenter
    ) async throws -> RedemptionDoor.Verification {
        let names = try await service.tokenNames(for: proof)
        return .stated(
            try await WorkThreads.process(proof.count) { [service] in
                try service.statement(of: try service.verify(proof, of: presenter.app), in: proof, named: names)
            })
    }

    package func claims(ofRefused proof: [UInt8]) async -> [Claim] {
        let names = try? await service.tokenNames(for: proof)
        return
            (try? await WorkThreads.process(proof.count) { [service] in
                let ofAnyone = ProofExpectations(bundleIdentifier: nil, origins: Set(Origin.allCases))
                let verified = try service.verifier.verify(proof, expecting: ofAnyone)
                guard verified.signedPurchase == nil || names != nil else { return [] }
                let claims = try service.claims(verified, proof)
                return (verified.purchases(named: names) ?? []).prefix(Self.maximumRefusals).map { claims.claim($0) }
            }) ?? []
    }
}

extension EntitlementService {
    /// The statement of a verified proof. It uses the processor, not the ledger.
    ///
    /// - Parameters:
    ///   - proof: The signed bytes.
    ///   - names: The result of `tokenNames(for:)`.
    package func statement(
        of verified: VerifiedProof, in proof: [UInt8], named names: PurchaseTokenNames?
    ) throws(RedemptionError) -> RedemptionDoor.Statement {
        guard verified.signedPurchase == nil || names != nil, let purchases = verified.purchases(named: names) else {
            throw .notRedeemable
        }
        // A subscription without an end would be granted for ever, or for no time.
        let isSubscription = { apps.type(of: $0) == ProductType.autoRenewableSubscription }
        guard verified.statesEnds || !purchases.map(\.productIdentifier).contains(where: isSubscription) else {
            throw .subscriptionStateUnknown
        }
        let claims = try claims(verified, proof)
        // The products of one token are of one owner.
        let siblings = verified.signedPurchase == nil ? [] : purchases.map(\.originalTransactionIdentifier)
        let stated = VerifiedPurchases(
            origin: verified.origin,
            claims: purchases.map { purchase in
                let others = siblings.filter { !$0.hasSameBytes(as: purchase.originalTransactionIdentifier) }
                return claims.claim(purchase, chain: others.first)
            })
        return .init(
            stated, stating: purchases, signed: verified, purchaseToken: verified.signedPurchase?.purchaseToken)
    }
}
