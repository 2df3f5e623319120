import Catalog
import Proofs
import Vocabulary

/// The claims of a verified proof, or of a statement of Google Play, by a catalog.
struct ProofClaims {
    private let app: String
    /// Nil for an app that the service does not sell.
    private let catalog: Catalog?
    let origin: Origin
    private let statedAt: Timestamp
    /// The number of the question that Google Play has answered; 0 for a proof.
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

    /// The claims of a statement, which no signature proves later. So it is not kept.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of its app.
    ///   - number: The number of the question that the statement answers.
    init(of statement: GooglePlayStatement, app: String, by catalog: Catalog?, number: Int64) {
        self.app = app
        self.catalog = catalog
        origin = statement.origin
        (statedAt, statementNumber) = (statement.askedAt, number)
        digest = statement.digest
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
            expiresAt: benefit?.end(from: purchase.purchaseDate, paidUntil: purchase.expiresDate),
            period: benefit?.period,
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

extension Redemption {
    /// The redemption of a ledger's answer to claims.
    ///
    /// - Parameter free: The items that everybody owns.
    /// - Throws: `RedemptionError` if no claim is the user's.
    init(of claims: [Claim], _ answer: LedgerAnswer, owningBesides free: [Item]) throws(RedemptionError) {
        self.init(
            outcome: try Self.outcome(of: answer), transactions: Self.lines(of: claims, answer),
            items: answer.items.merged(with: free))
    }

    /// - Throws: `RedemptionError` if no claim is the user's.
    static func outcome(of answer: LedgerAnswer) throws(RedemptionError) -> Outcome {
        guard answer.results.isEmpty || answer.results.contains(where: \.allowsFinish) else {
            throw .purchaseRefused(Result.refusals.first(where: answer.results.contains) ?? .productUnknown)
        }
        return outcome(of: answer.results)
    }

    static func lines(of claims: [Claim], _ answer: LedgerAnswer) -> [Line] {
        zip(claims, answer.results).map { claim, result in
            Line(
                transactionId: claim.origin.statedIdentifier(claim.transactionIdentifier),
                productId: claim.productIdentifier, result: result)
        }
    }

    private static func outcome(of results: [Result]) -> Outcome {
        if results.isEmpty { return .nothingToRedeem }
        if results.contains(.granted) { return .granted }
        if results.contains(.revoked) { return .revoked }
        return results.allSatisfy(\.allowsFinish) ? .unchanged : .partlyRefused
    }
}

extension [Item] {
    /// The items of both, each once, in order.
    func merged(with others: [Item]) -> [Item] {
        (self + others.filter { !contains($0) }).sorted()
    }
}
