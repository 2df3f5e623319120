import Catalog
import Ledger
import Proofs
import Vocabulary

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

/// The claims of a verified proof, or of a store's statement, by a catalog.
struct ProofClaims {
    private let app: String
    /// Nil for an app that the service does not sell.
    private let catalog: Catalog?
    let origin: Origin
    private let statedAt: Timestamp
    /// The number of the question that a store has answered; 0 for a proof.
    private let statementNumber: Int64
    private let digest: [UInt8]
    /// Nil for a statement without a signature.
    private let fingerprints: VerifiedProof.Fingerprints?
    private let kept: KeptProof?

    /// - Parameters:
    ///   - proof: The signed bytes.
    ///   - app: The bundle identifier of its app.
    ///   - isKept: True to store the signed bytes.
    init(of verified: VerifiedProof, _ proof: [UInt8], app: String, by catalog: Catalog?, isKept: Bool) {
        self.app = app
        self.catalog = catalog
        origin = verified.origin
        statedAt = verified.notifiedTransaction?.signedDate ?? verified.signedAt
        statementNumber = 0
        // A notification's claim is about the signed transaction inside it.
        let part = verified.notifiedTransactionProof
        digest = part?.digest ?? verified.digest
        fingerprints = part?.fingerprints ?? verified.fingerprints
        kept = isKept ? KeptProof(part.map { Array($0.compact.utf8) } ?? proof, digest: digest) : nil
    }

    /// The claims of a store's statement, of which the service keeps no signature.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of its app.
    ///   - number: The number of the question that the statement answers.
    init(
        of app: String, by catalog: Catalog?, from origin: Origin, statedAt: Timestamp, number: Int64, digest: [UInt8]
    ) {
        self.app = app
        self.catalog = catalog
        self.origin = origin
        (self.statedAt, statementNumber) = (statedAt, number)
        self.digest = digest
        (fingerprints, kept) = (nil, nil)
    }

    /// The claim of one purchase in the proof.
    ///
    /// - Parameters:
    ///   - renewal: The statement about the renewal of the subscription; nil if there is none.
    ///   - chain: The original transaction of another purchase under the same token; nil if there is none.
    ///   - keepsEnd: True if the end of the paid time is not stated.
    func claim(
        _ purchase: ProvenPurchase, renewal: StatedRenewal? = nil, chain: String? = nil, keepsEnd: Bool = false
    ) -> Claim {
        let benefit = catalog?.benefit(of: purchase.productIdentifier)
        var claim = Claim(
            app: app,
            origin: origin,
            transactionIdentifier: purchase.transactionIdentifier,
            originalTransactionIdentifier: purchase.originalTransactionIdentifier,
            chainTransactionIdentifier: chain,
            productIdentifier: purchase.productIdentifier,
            quantity: purchase.quantity,
            purchaseDate: purchase.purchaseDate,
            revocationDate: purchase.revocationDate,
            revocationReason: purchase.revocationReason,
            repeatsOriginal: catalog?.product(purchase.productIdentifier)?.type == .nonConsumable,
            signedAt: statedAt,
            statementNumber: statementNumber,
            appAccountToken: purchase.appAccountToken,
            proofDigest: digest, proof: kept, fingerprints: fingerprints,
            item: benefit?.item, credit: benefit?.credit,
            expiresAt: benefit?.end(
                from: purchase.purchaseDate, ofUnits: purchase.quantity, paidUntil: purchase.expiresDate),
            period: benefit?.period(ofUnits: purchase.quantity),
            grace: renewal.flatMap { Self.grace($0, of: purchase) }, facts: purchase.facts, renewal: renewal)
        claim.keepsEnd = keepsEnd
        return claim
    }

    /// The statement about a grace period; nil if the renewal says nothing of it.
    ///
    /// The App Store names no grace period that is over: neither while it tries to charge, nor when it has given up, nor of a
    /// period that it takes back. That ends no grace period before its time.
    private static func grace(_ renewal: StatedRenewal, of purchase: ProvenPurchase) -> Claim.Grace? {
        let facts = renewal.facts
        if let end = facts.date(.gracePeriodExpiresDate) { return .until(end) }
        // The last word of Google Play counts: on hold, paused and expired end a grace period at once (lifecycle/subscriptions).
        if facts[.subscriptionState] != nil { return Claim.Grace(endsAt: renewal.statedAt, isOver: true) }
        let isBillingError = facts.integer(.expirationIntent) == Int64(ExpirationIntent.billingError.rawValue)
        let saysNothing =
            isBillingError || facts.bool(.isInBillingRetryPeriod) == true || purchase.revocationDate != nil
        return saysNothing ? nil : Claim.Grace(endsAt: nil)
    }
}
